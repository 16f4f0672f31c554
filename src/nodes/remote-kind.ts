import type { Clock } from '../lib/clock.ts';
import type { ChannelPeer } from '../model/channel.ts';
import type { ConnectKind } from '../model/connect.ts';
import type { NodeCredentials } from '../model/credentials.ts';
import type { ProxyAddress } from '../model/proxy-address.ts';
import type { NodeConnector } from './node.ts';
import type { RemoteLocation } from './remote/calls/location.ts';

/** JSON rows in which a connector stores what its node cannot store, by wallet, kind of row and key. */
export interface ConnectorRows {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
}

/** Options of a connector. It connects only to `root` and to the places of `entries`. */
export interface RemoteOptions {
  readonly state: ConnectorRows;
  readonly clock: Clock;
  /** A monotonic time in milliseconds; the machine's own when absent. */
  readonly elapsedMs?: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** The node that the root seed controls; null when the seed controls none of this kind. */
  readonly root: RemoteLocation | null;
  /** The credentials that `connect` wrote, each for another node. */
  readonly entries: readonly NodeCredentials[];
  /** The proxy through which every node is reached; null is none. */
  readonly proxy: ProxyAddress | null;
  /**
   * Reads again what the configuration's files say of an entry, and of the root seed's node; null where it is not in a
   * file, or the file cannot be read. Absent: what was given stands.
   */
  readonly reread?: {
    readonly entry: (entry: NodeCredentials) => NodeCredentials | null;
    readonly root: () => RemoteLocation | null;
  };
  /** The peer of channels whose order names none; null: such an order is refused. */
  readonly channelPeer: ChannelPeer | null;
  /** Hex id of this installation, by which it recognizes the tokens that it made. */
  readonly mark: string;
}

/** Everything that the program knows about a kind of node that runs outside it. */
export interface RemoteNodeKind extends ConnectKind {
  /** Opens the connector. It connects to no node before the first request needs one. */
  readonly open: (options: RemoteOptions) => NodeConnector;
}
