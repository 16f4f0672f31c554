import { sleep } from '../../lib/sleep.ts';
import { isApiError } from '../../model/errors.ts';
import { isReceived, type Payment, updatedIndexOf } from '../../model/payment.ts';
import type { UpdatedIndex } from '../../model/payment-index.ts';
import type { NodeHistory, WalletNode } from '../../nodes/node.ts';
import type { Store } from '../../store/ports.ts';
import type { History } from '../session/ports.ts';
import type { Feed } from './feed.ts';

/** A stored payment is returned after this time, though the node has not answered. */
const LOOK_WITHIN_MS = 1000;

/** Yields pages, each of what `read` returns after the one before, until a page is empty. Returns where it ended. */
async function* pagesOf(
  read: (after: UpdatedIndex | null) => Promise<Payment[]>,
  after: UpdatedIndex | null,
): AsyncGenerator<Payment[], UpdatedIndex | null, undefined> {
  let reached = after;
  while (true) {
    const page = await read(reached);
    const last = page.at(-1);
    if (!last) return reached;
    reached = updatedIndexOf(last);
    yield page;
  }
}

/** Returns the history of a wallet, read from the node with one credential. */
export function historyOf(node: WalletNode, walletId: string, store: Store, feed: Feed): History {
  const history = node.history
    ? nativeHistory(node, node.history, walletId, store)
    : journaledHistory(node, walletId, store, feed);
  const shown = async (payments: Payment[]): Promise<Payment[]> => {
    const received = payments.filter(isReceived).map(({ index }) => index);
    if (received.length === 0) return payments;
    const refunded = await store.spends.refunded(walletId, received);
    return payments.map((one) => ({ ...one, refundedMsat: refunded.get(one.index) ?? null }));
  };
  return {
    ...history,
    async payment(index) {
      const payment = await history.payment(index);
      return payment && ((await shown([payment]))[0] ?? null);
    },
    updatedAfter: async (after, limit) => shown(await history.updatedAfter(after, limit)),
  };
}

function nativeHistory(
  node: WalletNode,
  history: NodeHistory,
  walletId: string,
  { spends }: Store,
): History {
  const payment: History['payment'] = async (index) => {
    const seen = await node.payment(index);
    if (seen) return seen.payment;
    // A spend is stored before the node has the payment, and shown once the node is asked for it.
    const spend = await spends.get(walletId, index);
    return spend && spend.state !== 'begun' ? spend.payment : null;
  };
  return {
    payment,
    stored: payment,
    latest: async (id) => (await node.latestPayment(id))?.payment ?? null,
    tip: () => history.tip(),
    updatedAfter: (after, limit) => history.updatedAfter(after, limit),
    async *pagesAfter(after, size) {
      yield* pagesOf((reached) => history.updatedAfter(reached, size.payments), after);
    },
  };
}

/**
 * Waits for a look at the node for a moment. While the node gives no usable answer, the stored payment is the best
 * result. Throws when the credentials have ended, and for a defect.
 */
async function soon(look: Promise<void>): Promise<void> {
  const usable = look.catch((error) => {
    if (!isApiError(error) || error.kind === 'unauthenticated') throw error;
  });
  // After the moment the look is not awaited any more.
  usable.catch(() => undefined);
  const over = new AbortController();
  try {
    await Promise.race([usable, sleep(LOOK_WITHIN_MS, over.signal)]);
  } finally {
    over.abort();
  }
}

function journaledHistory(
  node: WalletNode,
  walletId: string,
  { journal }: Store,
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
      if (feed.unanswered.has(index)) return null;
      const known = await journal.get(walletId, index);
      if (known && known.status !== 'pending') return known;
      const look = async () => {
        const seen = await node.payment(index);
        if (seen) await feed.observe(seen, node);
      };
      if (known) await soon(look());
      else await look();
      return journal.get(walletId, index);
    },
    stored: (index) => journal.get(walletId, index),
    async latest(id) {
      const known = await journal.latest(walletId, id);
      if (known) return known;
      const seen = await node.latestPayment(id);
      if (seen === null) return null;
      // A waiting request reads the payment from the journal, where the feed may not have put it yet.
      await feed.observe(seen, node);
      return journal.latest(walletId, id);
    },
    tip: () => afterCatchUp(() => journal.tip(walletId)),
    updatedAfter: (after, limit) =>
      afterCatchUp(() => journal.updatedAfter(walletId, after, limit)),
    async *pagesAfter(after, size) {
      const read = (from: UpdatedIndex | null) =>
        journal.updatedAfter(walletId, from, size.payments);
      let more = Promise.withResolvers<void>();
      const release = feed.listen(() => more.resolve());
      let isCaughtUp = false;
      const caughtUp = feed.caughtUp().then(() => {
        isCaughtUp = true;
      });
      try {
        let reached = after;
        let isAll = false;
        while (!isAll) {
          await Promise.race([caughtUp, more.promise]);
          isAll = isCaughtUp;
          more = Promise.withResolvers();
          reached = yield* pagesOf(read, reached);
        }
      } finally {
        release();
      }
    },
  };
}
