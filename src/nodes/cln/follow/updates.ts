import { elapsedMs } from '../../../lib/clock.ts';
import type { UpdateBatch, UpdatesOptions } from '../../node-observations.ts';
import { type FeedParts, feedOf } from '../../remote/follow/feed.ts';
import { RunningLook } from '../../remote/follow/running-look.ts';
import { CHAIN_WAIT, onchainLook } from '../onchain/onchain-history.ts';
import type { ClnHandle, ClnWallet } from '../reads/wallet.ts';
import {
  type FollowCursor,
  positionAt,
  positionIn,
  readCursor,
  writeCursor,
} from '../words/cursor.ts';
import { ClnInbox } from '../words/inbox.ts';
import { INVOICES } from './followed-invoices.ts';
import { SENDS } from './followed-sends.ts';
import { type FollowedList, readLists } from './look.ts';
import { Told } from './told.ts';
import { followWaits } from './waits.ts';

const { subsystem: NAME, indexname: ORDER } = CHAIN_WAIT;

const CHAIN: FollowedList = {
  name: NAME,
  orders: { [ORDER]: 'now' },
  async *read({ rpc, wallet, open, cursor, told, isFull }) {
    const after = positionIn(cursor, NAME, ORDER);
    const isUnchanged = !isFull && told.newest(cursor, NAME, ORDER) === after;
    if (isUnchanged && (await open('onchain')).length === 0) return;
    const { observations, reached } = await onchainLook({ owner: rpc, wallet }, { open, after });
    yield { observations, reached: positionAt(NAME, ORDER, reached) };
  },
};

const LISTS: readonly FollowedList[] = [SENDS, INVOICES, CHAIN];

/**
 * How often the lists are read although the node tells of no change, which also shows that it is there. The look after
 * this time asks for the newest number of each list; others read only what the node has told of.
 */
const LOOK_AGAIN_MS = 30_000;
/** How soon a change is read for which nobody waits. */
const SOON_MS = 1000;
/** For how long changes of payments are left unread while this process pays. */
const MOST_PUT_OFF_MS = 2000;
/** How many parts are remembered as read, so that they are not read again for each order in which they are listed. */
const MOST_SHOWN = 1000;

/**
 * Follows the updates of a wallet; see `WalletNode.updates`. The node numbers what is made, changed and deleted in its
 * lists. Waiting requests tell that a number has grown, and the lists are read from the cursor on, so that nothing is
 * left out. What this process reports is passed on first. Repeats are frequent and harmless. Throws when the node is
 * away.
 */
export function followWallet(
  { rpc, wallet }: Pick<ClnHandle, 'rpc' | 'wallet'>,
  options: UpdatesOptions,
): AsyncGenerator<UpdateBatch> {
  return feedOf(wallet, options, (signal): FeedParts<FollowCursor> => {
    const { log, open, historySinceMs } = options;
    let cursor = readCursor(options.after);
    const inbox = new ClnInbox();
    const told = new Told();
    followWaits({
      rpc,
      wallet,
      lists: LISTS,
      start: cursor,
      signal,
      told,
      woken: (speed) => (speed === 'now' ? inbox.requestLook() : inbox.requestLookSoon()),
      failed: (error) => inbox.fail(error),
    });
    const shown = new Set<string>();
    let putOffSinceMs: number | null = null;
    const putOff = (): boolean => {
      if (!wallet.paying.isNow) {
        putOffSinceMs = null;
        return false;
      }
      putOffSinceMs ??= wallet.elapsedMs();
      const leftMs = putOffSinceMs + MOST_PUT_OFF_MS - wallet.elapsedMs();
      if (leftMs <= 0) return false;
      void wallet.paying.over(leftMs, signal).then(() => inbox.requestLook());
      return true;
    };
    const begin = (withOpen: boolean, isFull: boolean): RunningLook<FollowCursor> => {
      const isPutOff = (): boolean => {
        // Who waits for the first look waits for all that it reads.
        if (withOpen || !putOff()) return false;
        if (isFull) fullMs = Number.NEGATIVE_INFINITY;
        return true;
      };
      if (shown.size > MOST_SHOWN) shown.clear();
      const scope = { rpc, wallet, log, open, historySinceMs, cursor, withOpen, told, isFull };
      return new RunningLook(readLists(LISTS, { ...scope, shown, isPutOff }));
    };
    let beganMs = elapsedMs();
    let fullMs = beganMs;
    let nextAtMs = beganMs + LOOK_AGAIN_MS;
    return {
      inbox,
      local: { changed: inbox.add, look: inbox.requestOpen },
      first: begin(true, true),
      noted({ observations, reached }) {
        cursor = { ...cursor, ...(reached as FollowCursor) };
        return observations;
      },
      written: () => writeCursor(cursor),
      next() {
        const nowMs = elapsedMs();
        if (inbox.wanted === 'soon') nextAtMs = Math.min(nextAtMs, nowMs + SOON_MS);
        // What could not be read when it was due is not asked for at once again.
        const dueAtMs = Math.max(nowMs + dueInMsOf(wallet), beganMs + SOON_MS);
        const restMs = Math.min(nextAtMs, dueAtMs) - nowMs;
        const isWanted = inbox.wanted === 'now';
        inbox.wanted = null;
        if (!isWanted && restMs > 0) return { restMs };
        const withOpen = inbox.isOpenWanted;
        inbox.isOpenWanted = false;
        beganMs = nowMs;
        nextAtMs = nowMs + LOOK_AGAIN_MS;
        const isFull = withOpen || nowMs - fullMs >= LOOK_AGAIN_MS;
        if (isFull) fullMs = nowMs;
        return begin(withOpen, isFull);
      },
    };
  });
}

function dueInMsOf(wallet: ClnWallet): number {
  const dueInMs = LISTS.map((list) => list.dueInMs?.(wallet) ?? Number.POSITIVE_INFINITY);
  return Math.min(...dueInMs);
}
