import { isApiError } from '../model/errors.ts';
import type { Payment } from '../model/payment.ts';
import type { PaymentId, PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';
import type { NodeHistory, NodeSession } from '../nodes/node.ts';
import type { PaymentJournal } from '../store/ports.ts';
import type { Feed } from './feed.ts';

/** Reads a wallet's payments in the order they were updated, whether node or journal keeps that order. */
export interface History {
  payment(index: PaymentIndex): Promise<Payment | null>;
  /** The newest payment of that id. */
  latest(id: PaymentId): Promise<Payment | null>;
  tip(): Promise<UpdatedIndex | null>;
  /** Payments updated after `after`, ascending, each in its newest state. */
  updatedAfter(after: UpdatedIndex | null, limit: number): Promise<Payment[]>;
}

/** The history of a wallet as one session may see it. */
export function historyOf(
  session: NodeSession,
  walletId: string,
  journal: PaymentJournal,
  feed: Feed,
): History {
  const native = session.node.history;
  return native
    ? nativeHistory(session, native)
    : journaledHistory(session, walletId, journal, feed);
}

function nativeHistory({ node }: NodeSession, history: NodeHistory): History {
  return {
    payment: (index) => node.payment(index),
    latest: (id) => node.latestPayment(id),
    tip: () => history.tip(),
    updatedAfter: (after, limit) => history.updatedAfter(after, limit),
  };
}

function journaledHistory(
  session: NodeSession,
  walletId: string,
  journal: PaymentJournal,
  feed: Feed,
): History {
  const afterCatchUp = async <T>(read: () => Promise<T>): Promise<T> => {
    const release = feed.hold();
    try {
      await feed.caughtUp();
      return await read();
    } finally {
      release();
    }
  };
  return {
    async payment(index) {
      const known = await journal.get(walletId, index);
      if (known && known.status !== 'pending') return known;
      const seen = await session.node.payment(index).catch((error) => {
        // What is known is the best answer while the node cannot be asked.
        if (known && isApiError(error, 'unreachable', 'timeout')) return null;
        throw error;
      });
      if (seen) await feed.apply({ payments: [seen], cursor: null }, session);
      return journal.get(walletId, index);
    },
    async latest(id) {
      return (await journal.latest(walletId, id)) ?? session.node.latestPayment(id);
    },
    tip: () => afterCatchUp(() => journal.tip(walletId)),
    updatedAfter: (after, limit) =>
      afterCatchUp(() => journal.updatedAfter(walletId, after, limit)),
  };
}
