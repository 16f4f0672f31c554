import { turn } from '../../lib/turn.ts';
import { formatAmountMsat, formatSignedMsat } from '../../model/amount.ts';
import { isApiError } from '../../model/errors.ts';
import { isAwaitingApproval, type PaymentJson } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { Completion } from '../../store/ports.ts';
import {
  allows,
  nodeInfo,
  type Reader,
  requirePermission,
  type Session,
} from '../session/session.ts';
import { type BookRow, changeOf, type Notice } from './book-row.ts';
import { syncPayments } from './sync.ts';

const PAGE = 500;

const UNKNOWN =
  'money in channels that open or close, costs that the node does not tell, or payments that are not in its history';

interface BooksWanted {
  /** Rows of payments completed at or after this time, in milliseconds, behind the sum of those before. */
  readonly sinceMs: number | null;
  /** Rows of payments completed before this time. With null the sum is compared with the node's balance. */
  readonly untilMs: number | null;
  /** Whether the cache is brought up to date first. */
  readonly sync: boolean;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

type Bookkeeper = Reader &
  Pick<Session, 'locks' | 'client' | 'configured' | 'feed' | 'log' | 'unfit'>;

/**
 * Yields the books of a wallet (docs/decisions.md 192), a page at a time: completed payments in the order of their
 * completion, each with the sum up to it, and what the node's balance differs from that. Throws the reason of `signal`
 * when that aborts, and what a sync throws.
 */
export async function* books(
  session: Bookkeeper,
  { sinceMs, untilMs, sync, nowMs, signal }: BooksWanted,
): AsyncGenerator<readonly BookRow[], void> {
  let balanceMsat = 0n;
  let isForward = sinceMs !== null;
  const forward = (): BookRow => {
    isForward = false;
    const entry: Notice = {
      kind: 'balance_forward',
      atMs: sinceMs ?? 0,
      reason: 'Sum of all that was completed before.',
    };
    return { entry, changeMsat: balanceMsat, balanceMsat };
  };
  let after: Completion | null = null;
  // What was completed while rows were read is in the balance of the node, so it is read as well.
  const rounds = sync && untilMs === null ? 2 : 1;
  for (let round = 0; round < rounds; round++) {
    if (sync) await syncPayments(session);
    for (;;) {
      await turn();
      signal.throwIfAborted();
      const page: { json: string[]; last: Completion | null } = await session.store.cache.completed(
        session.userPk,
        after,
        PAGE,
      );
      if (page.last === null) break;
      after = page.last;
      const rows: BookRow[] = [];
      for (const json of page.json) {
        const entry: PaymentJson = JSON.parse(json);
        const atMs = entry.finalized_at ?? 0;
        if (untilMs !== null && atMs >= untilMs) break;
        if (isForward && atMs >= (sinceMs ?? 0)) rows.push(forward());
        const changeMsat = changeOf(entry);
        balanceMsat += changeMsat;
        if (!isForward) rows.push({ entry, changeMsat, balanceMsat });
      }
      if (rows.length > 0) yield rows;
      if (untilMs !== null && after.atMs >= untilMs) break;
    }
  }
  if (isForward) yield [forward()];
  if (untilMs !== null) return;
  const last = await comparison(session, balanceMsat, nowMs());
  signal.throwIfAborted();
  if (last !== null) yield [last];
}

/** What the node's balance says of the sum of all rows; null when it is the same. */
async function comparison(
  session: Bookkeeper,
  balanceMsat: bigint,
  atMs: number,
): Promise<BookRow | null> {
  try {
    requirePermission(session, 'node_info');
    const { lightningBalanceMsat, onchainBalanceMsat } = await nodeInfo(session);
    const ownedMsat = lightningBalanceMsat + onchainBalanceMsat;
    const changeMsat = ownedMsat - balanceMsat;
    if (changeMsat === 0n) return null;
    const [onWay, heldBackMsat] = [await onTheirWay(session), await heldBack(session)];
    const reason = differenceReason(changeMsat, onWay, heldBackMsat);
    return { entry: { kind: 'difference', atMs, reason }, changeMsat, balanceMsat: ownedMsat };
  } catch (error) {
    if (!isApiError(error)) throw error;
    const reason = `The sum was not compared with the balance of the node. ${error.message}`;
    return { entry: { kind: 'unchecked', atMs, reason }, changeMsat: 0n, balanceMsat };
  }
}

/** Pending payments that the balance of a node counts already, or does not count any more. */
interface OnTheirWay {
  readonly payments: number;
  readonly changeMsat: bigint;
}

async function onTheirWay({ store, userPk }: Reader): Promise<OnTheirWay> {
  const query = {
    filter: 'pending',
    order: 'asc',
    limit: PAGE,
    direction: null,
    rail: null,
    sinceMs: null,
    untilMs: null,
    externalId: null,
  } as const;
  let [payments, changeMsat] = [0, 0n];
  for (let after: PaymentIndex | null = null; ; ) {
    const page: { json: string[]; nextIndex: PaymentIndex | null } = await store.cache.list(
      userPk,
      { ...query, after },
    );
    const counted = page.json.map((json): PaymentJson => JSON.parse(json)).filter(isInBalance);
    payments += counted.length;
    changeMsat += counted.reduce((sum, payment) => sum + changeOf(payment), 0n);
    if (page.nextIndex === null) return { payments, changeMsat };
    after = page.nextIndex;
  }
}

/** What arrives over Lightning counts when it is completed, and what waits for approval was not sent. */
function isInBalance(payment: PaymentJson): boolean {
  if (payment.direction === 'inbound') return payment.rail === 'onchain' && payment.txid !== null;
  return !isAwaitingApproval({ ...payment, statusMsg: payment.status_msg });
}

/** What open channels keep for the transactions that close them, which no balance counts (docs/decisions.md 192). */
async function heldBack(session: Bookkeeper): Promise<bigint> {
  const { channels } = session.node;
  if (!channels || !allows(session, 'list_channels')) return 0n;
  const open = await channels.listChannels();
  return open.reduce((sum, { heldBackMsat = 0n }) => sum + heldBackMsat, 0n);
}

function differenceReason(
  differenceMsat: bigint,
  { payments, changeMsat }: OnTheirWay,
  heldBackMsat: bigint,
): string {
  const known = [
    ...(payments === 0
      ? []
      : [
          `Payments on their way (${payments}) change the balance of the node by ${formatSignedMsat(changeMsat)} sats.`,
        ]),
    ...(heldBackMsat === 0n
      ? []
      : [`Open channels hold back ${formatAmountMsat(heldBackMsat)} sats for their closing.`]),
  ];
  const restMsat = differenceMsat - changeMsat + heldBackMsat;
  if (restMsat === 0n) return known.join(' ');
  if (known.length === 0) return `The balance of the node is another. Not known why: ${UNKNOWN}.`;
  return `${known.join(' ')} Not known why it differs by ${formatSignedMsat(restMsat)} sats more: ${UNKNOWN}.`;
}
