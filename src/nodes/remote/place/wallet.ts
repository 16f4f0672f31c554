import type { Network } from '../../../codecs/network.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { KeyedLock } from '../../../lib/keyed-lock.ts';
import type { ConnectorRows } from '../../remote-kind.ts';
import type { LocalChanges } from './local-changes.ts';
import type { Sendable } from './sendable.ts';

/** One wallet of a node that runs outside the sidecar, shared by all handles to it. */
export interface RemoteWallet {
  /** Hex ed25519 public key that follows from the node's key, so that every credential names the same wallet. */
  readonly userPk: string;
  readonly nodePk: string;
  readonly network: Network;
  readonly clock: Clock;
  /** A monotonic time in milliseconds, which setting the clock does not change. */
  readonly elapsedMs: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** What the connector stores, because the node has no place for it. */
  readonly rows: ConnectorRows;
  readonly locks: KeyedLock;
  readonly local: LocalChanges;
  /** What its channels can send, read ahead of a payment. */
  readonly sendable: Sendable;
  readonly closed: AbortSignal;
}
