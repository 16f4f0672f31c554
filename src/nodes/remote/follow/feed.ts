import type { Observation, UpdateBatch, UpdatesOptions } from '../../node-observations.ts';
import type { LocalListener } from '../place/local-changes.ts';
import type { RemoteWallet } from '../place/wallet.ts';
import type { FoundUpTo } from './found.ts';
import type { Inbox } from './inbox.ts';
import type { RunningLook } from './running-look.ts';

/** While a look runs, its next page wakes the feed, as news do. */
const WHILE_LOOKING_MS = 60_000;

/** What a kind of node gives to a feed: what the node tells, and looks at its lists. */
export interface FeedParts<Cursor> {
  /** What the node and this process tell. It throws the error that ends the feed. */
  readonly inbox: Inbox<Cursor>;
  /** What this process does itself. */
  readonly local: LocalListener;
  readonly first: RunningLook<Cursor>;
  /** Advances the cursor by what was found, and returns the observations. */
  readonly noted: (found: FoundUpTo<Cursor>) => readonly Observation[];
  /** The cursor as the store keeps it. */
  readonly written: () => string;
  /** Called after each look. */
  readonly over?: () => void;
  /** The look that is due now; or null, and how long to wait for news before it asks again. */
  readonly next: () => RunningLook<Cursor> | { readonly restMs: number };
}

/**
 * Yields what a wallet's node tells, news first, then the pages of looks, until the signal aborts or the connector
 * closes; see `WalletNode.updates`. A batch moves the cursor only when it holds everything up to it. `open` begins what
 * must end with the signal that it gets.
 */
export async function* feedOf<Cursor>(
  { closed, local }: Pick<RemoteWallet, 'closed' | 'local'>,
  options: Pick<UpdatesOptions, 'after' | 'signal'>,
  open: (signal: AbortSignal) => FeedParts<Cursor>,
): AsyncGenerator<UpdateBatch> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, closed, stop.signal]);
  const { inbox, first, noted, written, over, next, local: listener } = open(signal);
  const unsubscribe = local.subscribe(listener);
  let told = options.after;
  let isCaughtUp = false;
  let look: RunningLook<Cursor> | null = first;
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
        told = written();
        yield { observations, cursor: told, caughtUp: false };
        continue;
      }
      if (look?.isOver) {
        look = null;
        over?.();
        const isFirst = !isCaughtUp;
        const isMoved = written() !== told;
        isCaughtUp = true;
        told = written();
        // A cursor that has not advanced need not be stored again.
        if (isFirst || isMoved) yield { observations: [], cursor: told, caughtUp: isFirst };
        continue;
      }
      let restMs = WHILE_LOOKING_MS;
      if (look === null) {
        const due = next();
        if ('restMs' in due) restMs = due.restMs;
        else look = due;
      }
      await inbox.wait(restMs, look?.next ?? null, signal);
    }
  } finally {
    look?.drop();
    stop.abort();
    unsubscribe();
  }
}
