import { elapsedMs } from '../../lib/clock.ts';
import type { Observation, UpdateBatch, UpdatesOptions } from '../node-observations.ts';
import { RunningLook } from '../remote/running-look.ts';
import { type FollowCursor, type Found, readCursor, writeCursor } from './cursor.ts';
import { CHAIN } from './followed-chain.ts';
import { INVOICES } from './followed-invoices.ts';
import { SENDS } from './followed-sends.ts';
import { ClnInbox } from './inbox.ts';
import { type FollowedList, readLists } from './look.ts';
import type { ClnRpc } from './rpc.ts';
import { followWaits } from './waits.ts';
import type { ClnWallet } from './wallet.ts';

/** The lists in the order in which they are read. */
const LISTS: readonly FollowedList[] = [SENDS, INVOICES, CHAIN];

/** How often the lists are read although the node tells of no change, which also shows that it is there. */
const LOOK_AGAIN_MS = 30_000;
/** How soon a change is read for which nobody waits. */
const SOON_MS = 1000;
/** While a look runs, its next page wakes the feed, as changes do. */
const WHILE_LOOKING_MS = 60_000;

/**
 * Follows the updates of a wallet; see `WalletNode.updates`. The node numbers what is made, changed and deleted in its
 * lists. Waiting requests tell that a number has grown, and the lists are read from the cursor on, so that nothing is
 * left out. What this process reports is passed on first. Repeats are frequent and harmless. Throws when the node is
 * away.
 */
export async function* followWallet(
  rpc: ClnRpc,
  wallet: ClnWallet,
  options: UpdatesOptions,
): AsyncGenerator<UpdateBatch> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, wallet.closed, stop.signal]);
  const { log, open, historySinceMs } = options;
  let cursor = readCursor(options.after);
  let told = options.after;
  const inbox = new ClnInbox();
  const unsubscribe = wallet.local.subscribe({ changed: inbox.add, look: inbox.requestOpen });
  followWaits({
    rpc,
    lists: LISTS,
    start: cursor,
    signal,
    woken: (speed) => (speed === 'now' ? inbox.requestLook() : inbox.requestLookSoon()),
    failed: (error) => inbox.fail(error),
  });
  const begin = (withOpen: boolean): RunningLook<FollowCursor> => {
    const scope = { rpc, wallet, log, open, historySinceMs, cursor, withOpen };
    return new RunningLook(readLists(LISTS, scope));
  };
  const noted = ({ observations, reached }: Found): readonly Observation[] => {
    cursor = { ...cursor, ...(reached as FollowCursor) };
    return observations;
  };
  let look: RunningLook<FollowCursor> | null = begin(true);
  let isCaughtUp = false;
  let beganMs = elapsedMs();
  let nextAtMs = beganMs + LOOK_AGAIN_MS;
  try {
    while (!signal.aborted) {
      const { observations: news } = inbox.take();
      if (news.length > 0) {
        look?.ends.add(news);
        yield { observations: news, cursor: null, caughtUp: false };
        continue;
      }
      const page = look?.take() ?? null;
      if (page !== null) {
        const observations = noted(page);
        if (observations.length === 0) continue;
        told = writeCursor(cursor);
        yield { observations, cursor: told, caughtUp: false };
        continue;
      }
      if (look?.isOver) {
        look = null;
        const isFirst = !isCaughtUp;
        const isMoved = writeCursor(cursor) !== told;
        isCaughtUp = true;
        told = writeCursor(cursor);
        // A cursor that has not advanced need not be stored again.
        if (isFirst || isMoved) yield { observations: [], cursor: told, caughtUp: isFirst };
        continue;
      }
      if (inbox.wanted === 'soon') nextAtMs = Math.min(nextAtMs, elapsedMs() + SOON_MS);
      // What could not be read when it was due is not asked for at once again.
      const dueAtMs = Math.max(elapsedMs() + dueInMsOf(wallet), beganMs + SOON_MS);
      const restMs = Math.min(nextAtMs, dueAtMs) - elapsedMs();
      if (look === null && (inbox.wanted === 'now' || restMs <= 0)) {
        const withOpen = inbox.isOpenWanted;
        inbox.isOpenWanted = false;
        inbox.wanted = null;
        beganMs = elapsedMs();
        nextAtMs = beganMs + LOOK_AGAIN_MS;
        look = begin(withOpen);
      } else if (inbox.wanted === 'soon') {
        // It is noted in the time of the next look.
        inbox.wanted = null;
      }
      await inbox.wait(look ? WHILE_LOOKING_MS : restMs, look?.next ?? null, signal);
    }
  } finally {
    stop.abort();
    unsubscribe();
    look?.drop();
  }
}

/** In how many milliseconds a list must be read although the node tells of no change. */
function dueInMsOf(wallet: ClnWallet): number {
  const dueInMs = LISTS.map((list) => list.dueInMs?.(wallet) ?? Number.POSITIVE_INFINITY);
  return Math.min(...dueInMs);
}
