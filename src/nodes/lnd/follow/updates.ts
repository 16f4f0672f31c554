import { ApiError } from '../../../model/errors.ts';
import type { UpdateBatch, UpdatesOptions } from '../../node.ts';
import { type FeedParts, feedOf } from '../../remote/follow/feed.ts';
import { RunningLook } from '../../remote/follow/running-look.ts';
import type { LndHandle } from '../reads/wallet.ts';
import {
  advanced,
  type FollowCursor,
  type Found,
  readCursor,
  writeCursor,
} from '../words/cursor.ts';
import { LndInbox } from '../words/inbox.ts';
import { LABELED_WITHIN_MS } from '../words/label-grace.ts';
import { openHolds } from './holds.ts';
import { LISTED_WITHIN_MS, ListLag } from './list-lag.ts';
import type { Look } from './look.ts';
import { LookSchedule } from './look-schedule.ts';
import { reconcile } from './reconcile.ts';
import { SpendWatch, spendReports } from './spends.ts';
import { followStreams } from './streams.ts';
import { Unfinished } from './unfinished.ts';

/** How often every open invoice is read while more hold invoices are open than are followed. */
const HOLDS_LEFT_OUT_MS = 5000;

/**
 * Follows the updates of a wallet; see `WalletNode.updates` and docs/architecture.md, Following LND. What LND's streams
 * tell is passed on first. Beside them run looks, since the streams have no common cursor and leave changes out
 * (docs/decisions.md 82). Repeats are frequent and harmless. Throws when any stream ends, because LND ends its streams
 * in different ways when it stops.
 */
export function followWallet(
  { rest, wallet }: Pick<LndHandle, 'rest' | 'wallet'>,
  options: UpdatesOptions,
): AsyncGenerator<UpdateBatch> {
  return feedOf(wallet, options, (signal): FeedParts<FollowCursor> => {
    const { log, open, historySinceMs: sinceMs } = options;
    const { elapsedMs } = wallet;
    let cursor = readCursor(options.after);
    const inbox = new LndInbox();
    const unfinished = new Unfinished();
    const listLag = new ListLag(elapsedMs);
    const holds = openHolds({ rest, wallet, add: inbox.add, signal });
    followStreams({ rest, wallet, log, start: cursor, inbox, listLag, signal }, (error) =>
      inbox.fail(error ?? disconnected()),
    );
    const spends = new SpendWatch(rest, signal, spendReports(wallet, open, inbox));
    const begin = (reads: Look['reads']): RunningLook<FollowCursor> => {
      const scope = { rest, wallet, log, cursor, sinceMs, unfinished, spends, holds, listLag };
      return new RunningLook(reconcile({ ...scope, open, reads }));
    };
    const noted = ({ observations, reached }: Found): Found['observations'] => {
      cursor = advanced(cursor, reached);
      unfinished.note(observations.map(({ payment }) => payment));
      return observations;
    };
    const againWithinMs = (): number | null => {
      if (listLag.waiting) return LISTED_WITHIN_MS;
      return wallet.labels.waiting ? LABELED_WITHIN_MS : null;
    };
    const schedule = new LookSchedule(elapsedMs(), cursor);
    return {
      inbox,
      local: { changed: inbox.add, look: inbox.requestLook, hold: holds.follow },
      first: begin('everyInvoice'),
      noted,
      written: () => writeCursor(cursor),
      over() {
        schedule.over(elapsedMs(), againWithinMs());
        if (holds.takeLeftOut()) schedule.everyInvoiceWithin(elapsedMs(), HOLDS_LEFT_OUT_MS);
      },
      next() {
        const dueInMs = unfinished.nextDueAtMs - wallet.clock.now();
        const reads = schedule.next(elapsedMs(), inbox, dueInMs);
        if (reads === null) return { restMs: schedule.restMs(elapsedMs(), dueInMs) };
        if (reads !== 'due') inbox.wanted = null;
        return begin(reads);
      },
    };
  });
}

function disconnected(): ApiError {
  return new ApiError('unreachable', 'LND ended a stream of updates.');
}
