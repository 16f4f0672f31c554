import type { UpdatesOptions } from '../../node-observations.ts';
import { asAllowed } from '../../remote/calls/if-allowed.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnWallet } from '../reads/wallet.ts';
import type { FollowCursor, Found, Order } from '../words/cursor.ts';
import type { Told } from './told.ts';

/** What one look at the node needs. */
export interface Look extends Pick<UpdatesOptions, 'open' | 'log' | 'historySinceMs'> {
  readonly rpc: ClnRpc;
  readonly wallet: ClnWallet;
  readonly cursor: FollowCursor;
  /** Whether the unfinished payments of the store are looked at too, as at the beginning of a feed. */
  readonly withOpen: boolean;
  readonly told: Told;
  /** Whether the node is asked for the newest numbers of its lists, and not only what it told is read. */
  readonly isFull: boolean;
  /** The parts of payments that the feed has read with the whole payment, in the state that they had then. */
  readonly shown: Set<string>;
  /**
   * Whether changes that no caller waits for are left to the next look, because this process is paying now. False once
   * that has gone on for some seconds.
   */
  readonly isPutOff: () => boolean;
}

/** How soon a change in a list is read. */
export type Speed = 'now' | 'soon';

/** A list of the node that a feed follows. */
export interface FollowedList {
  /** The subsystem of `wait`; the cursor's parts are named after it. */
  readonly name: string;
  /** The orders that are followed, each with how soon a change in it is read. */
  readonly orders: Readonly<Partial<Record<Order, Speed>>>;
  /** Whether this process is told of the changes by its own calls now, so that each of them is read soon only. */
  readonly isToldBeside?: (wallet: ClnWallet) => boolean;
  /** Reads what changed in the list since the cursor, and what else may have changed. */
  readonly read: (look: Look) => AsyncGenerator<Found>;
  /** In how many milliseconds the list must be read although the node tells of no change; absent: never. */
  readonly dueInMs?: (wallet: ClnWallet) => number;
}

/** Reads what changed in the lists. What the rune may not read is left out. */
export async function* readLists(
  lists: readonly FollowedList[],
  look: Look,
): AsyncGenerator<Found> {
  for (const list of lists) yield* asAllowed(list.read(look));
}
