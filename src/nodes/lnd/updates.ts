import { ApiError } from '../../model/errors.ts';
import type { UpdateBatch, UpdatesOptions } from '../node.ts';
import { RunningLook } from '../remote/running-look.ts';
import { advanced, type FollowCursor, type Found, readCursor, writeCursor } from './cursor.ts';
import { openHolds } from './holds.ts';
import { LndInbox } from './inbox.ts';
import { LABELED_WITHIN_MS } from './label-grace.ts';
import { LISTED_WITHIN_MS, ListLag } from './list-lag.ts';
import type { Look } from './look.ts';
import { LookSchedule } from './look-schedule.ts';
import { reconcile } from './reconcile.ts';
import type { LndRest } from './rest.ts';
import { spendReports } from './spend-reports.ts';
import { SpendWatch } from './spends.ts';
import { followStreams } from './streams.ts';
import { Unfinished } from './unfinished.ts';
import type { LndWallet } from './wallet.ts';

/** How often every open invoice is read while more hold invoices are open than are followed. */
const HOLDS_LEFT_OUT_MS = 5000;
/** While a look runs, its next page wakes the feed, as streams do. */
const WHILE_LOOKING_MS = 60_000;

/**
 * Follows the updates of a wallet; see `WalletNode.updates` and docs/architecture.md, Following LND. What LND's streams
 * tell is passed on first. Beside them run looks, since the streams have no common cursor and leave changes out
 * (docs/decisions.md 82). Repeats are frequent and harmless. Throws when any stream ends, because LND ends its streams
 * in different ways when it stops.
 */
export async function* followWallet(
  rest: LndRest,
  wallet: LndWallet,
  options: UpdatesOptions,
): AsyncGenerator<UpdateBatch> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, wallet.closed, stop.signal]);
  const { log, open, historySinceMs: sinceMs } = options;
  const { elapsedMs } = wallet;
  let cursor = readCursor(options.after);
  let told = options.after;
  const inbox = new LndInbox();
  const unfinished = new Unfinished();
  const listLag = new ListLag(elapsedMs);
  const holds = openHolds({ rest, wallet, add: inbox.add, signal });
  const unsubscribe = wallet.local.subscribe({
    changed: inbox.add,
    look: inbox.requestLook,
    hold: holds.follow,
  });
  followStreams({ rest, wallet, log, start: cursor, inbox, listLag, signal }, (error) =>
    inbox.fail(error ?? disconnected()),
  );
  const spends = new SpendWatch(rest, signal, spendReports({ wallet, open, inbox }));
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
  let look: RunningLook<FollowCursor> | null = begin('everyInvoice');
  let isCaughtUp = false;
  try {
    while (!signal.aborted) {
      const news = noted(inbox.take());
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
        schedule.over(elapsedMs(), againWithinMs());
        if (holds.takeLeftOut()) schedule.everyInvoiceWithin(elapsedMs(), HOLDS_LEFT_OUT_MS);
        const isFirst = !isCaughtUp;
        const isMoved = writeCursor(cursor) !== told;
        isCaughtUp = true;
        told = writeCursor(cursor);
        // A cursor that has not advanced need not be stored again.
        if (isFirst || isMoved) yield { observations: [], cursor: told, caughtUp: isFirst };
        continue;
      }
      const dueInMs = unfinished.nextDueAtMs - wallet.clock.now();
      if (look === null) {
        const reads = schedule.next(elapsedMs(), inbox, dueInMs);
        if (reads !== null && reads !== 'due') inbox.wanted = null;
        look = reads && begin(reads);
      }
      const restMs = look ? WHILE_LOOKING_MS : schedule.restMs(elapsedMs(), dueInMs);
      await inbox.wait(restMs, look?.next ?? null, signal);
    }
  } finally {
    stop.abort();
    unsubscribe();
    look?.drop();
  }
}

function disconnected(): ApiError {
  return new ApiError('unreachable', 'LND ended a stream of updates.');
}
