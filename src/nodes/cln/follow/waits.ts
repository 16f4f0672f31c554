import type { z } from 'zod';
import { sleep } from '../../../lib/sleep.ts';
import { isApiError } from '../../../model/errors.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import { type FollowCursor, type Order, positionIn } from '../words/cursor.ts';
import { waitShape } from '../words/wire.ts';
import type { FollowedList, Look, Speed } from './look.ts';

/** How long one request waits, since nothing else shows that a connection on which nothing is said is dead. */
const WAIT_MS = 10 * 60_000;
/**
 * The pause after a request that told nothing new, as where a proxy on the way allows no waiting; and after one that
 * told a change for which nobody waits. The next request is answered at once where there were changes meanwhile.
 */
const PAUSE_MS = 1000;
/**
 * The most changes of an order that are taken within `PAUSE_MS`, so that a node whose numbers grow with every question
 * is not asked without end. Nothing is missed: the request after the pause is answered at once.
 */
const MOST_AT_ONCE = 100;

interface Following extends Pick<Look, 'rpc' | 'wallet' | 'told'> {
  readonly lists: readonly FollowedList[];
  readonly start: FollowCursor;
  readonly signal: AbortSignal;
  /** Called with each change in an order of a list. */
  readonly woken: (speed: Speed) => void;
  /** Waits before a request that nobody is in need of; {@link sleep} when absent. */
  readonly pause?: typeof sleep;
  /** Called when the node is away, or the rune has ended. */
  readonly failed: (error: unknown) => void;
}

/**
 * Waits for changes of the lists until `signal` aborts. The node answers at once where there were changes since the
 * start, so none is missed. A rune that may not wait gets none: the lists are read from time to time all the same.
 */
export function followWaits(following: Following): void {
  const { wallet, lists, told, woken, failed } = following;
  for (const { name, orders, isToldBeside } of lists) {
    const quiet = isToldBeside
      ? () => wallet.paying.over(PAUSE_MS, following.signal)
      : async () => undefined;
    for (const [order, usual] of Object.entries(orders) as [Order, Speed][]) {
      const tell = (): Speed => {
        const speed = isToldBeside?.(wallet) ? 'soon' : usual;
        woken(speed);
        return speed;
      };
      followOrder(following, name, order, { tell, quiet }).catch((error: unknown) => {
        if (!isApiError(error, 'forbidden')) failed(error);
        else told.set(name, order, null);
      });
    }
  }
}

async function followOrder(
  { rpc, wallet, start, signal, told, pause = sleep }: Following,
  subsystem: string,
  order: Order,
  { tell, quiet }: { readonly tell: () => Speed; readonly quiet: () => Promise<void> },
): Promise<void> {
  let reached = positionIn(start, subsystem, order);
  told.set(subsystem, order, reached);
  let changes = 0;
  let sinceMs = wallet.elapsedMs();
  while (!signal.aborted) {
    const request = { subsystem, indexname: order, nextvalue: reached + 1 };
    await quiet();
    const now = await waitFor(rpc, request, signal);
    if (now === null) continue;
    const position = now[order] ?? 0;
    if (position === reached) {
      await pause(PAUSE_MS, signal);
      continue;
    }
    reached = position;
    told.set(subsystem, order, reached);
    const nowMs = wallet.elapsedMs();
    if (nowMs - sinceMs >= PAUSE_MS) [changes, sinceMs] = [0, nowMs];
    if (tell() === 'soon' || ++changes >= MOST_AT_ONCE) await pause(PAUSE_MS, signal);
  }
}

/** What the node answers; null where there was no change in the time of one request. Throws when the node is away. */
async function waitFor(
  rpc: ClnRpc,
  request: { readonly subsystem: string; readonly indexname: Order; readonly nextvalue: number },
  signal: AbortSignal,
): Promise<z.output<typeof waitShape> | null> {
  const over = AbortSignal.timeout(WAIT_MS);
  try {
    return await rpc.poll('wait', request, waitShape, AbortSignal.any([signal, over]));
  } catch (error) {
    if (signal.aborted || over.aborted) return null;
    if (!isApiError(error, 'unreachable', 'timeout', 'unreadable')) throw error;
    // Something on the way may have cut the request. If the node itself is away, this throws.
    return rpc.read('wait', { ...request, nextvalue: 0 }, waitShape);
  }
}
