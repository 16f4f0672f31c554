import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { sleep } from '../../lib/sleep.ts';
import type { UpdatesOptions, WalletNode } from '../../nodes/node.ts';
import type { ObservationRules, Store } from '../../store/ports.ts';

/** A wallet's node with a valid credential, by which a feed follows it. */
export interface Follower {
  readonly node: WalletNode;
  /** Aborts when the credential ends. */
  readonly ended: AbortSignal;
}

/** What a feed needs. */
export interface FeedOptions {
  readonly walletId: string;
  readonly store: Store;
  readonly rules: ObservationRules;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
  /** A monotonic time in milliseconds, which setting the clock does not change. */
  readonly elapsedMs: () => number;
  /** Waits before the node is followed or asked again; {@link sleep} when absent. */
  readonly pause?: typeof sleep;
  readonly historySinceMs: UpdatesOptions['historySinceMs'];
  /** Null when no valid credential of the wallet is known. */
  readonly follower: () => Promise<Follower | null>;
  /** Called after webhook deliveries were stored. */
  readonly onDelivery: () => void;
}
