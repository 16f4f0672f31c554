import type { Network } from '../codecs/network.ts';
import type { Clock } from '../lib/clock.ts';
import type { NodeCredentials } from '../model/credentials.ts';
import type { Permission } from '../model/permissions.ts';
import type { NodeConnector } from './node.ts';
import type { RemoteLocation } from './remote/location.ts';

/** The peer to which channels are opened. */
export interface ChannelPeer {
  /** Hex node key. */
  readonly pubkey: string;
  /** `host:port`. */
  readonly host: string;
}

/** JSON rows in which a connector stores what its node cannot store, by wallet, kind of row and key. */
export interface ConnectorRows {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
}

/** Options of a connector. It connects only to `root` and to the places of `entries`. */
export interface RemoteOptions {
  readonly state: ConnectorRows;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** The node that the root seed controls; null when the seed controls none of this kind. */
  readonly root: RemoteLocation | null;
  /** The credentials that `connect` wrote, each for another node. */
  readonly entries: readonly NodeCredentials[];
  /** Null: opening a channel is refused. */
  readonly channelPeer: ChannelPeer | null;
  /** Hex id of this installation, by which it recognizes the tokens that it made. */
  readonly mark: string;
}

/** The input of the command `connect <kind>`. */
export interface ConnectInput {
  readonly argument: string | undefined;
  /** Values of the options, by their names in camel case. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** Reads a file that an option names. Throws an error for the user when it cannot be read. */
  readonly read: (path: string) => Uint8Array;
}

/** A node that `connect` reached, with its version and what the token allows. */
export interface ConnectedNode {
  readonly version: string;
  /** The permissions for which the token suffices. */
  readonly permissions: readonly Permission[];
  readonly credentials: NodeCredentials & { readonly nodePk: string; readonly network: Network };
}

/** Everything that the program knows about a kind of node that runs outside it. */
export interface RemoteNodeKind {
  /** The name shown to people. */
  readonly title: string;
  /** The releases that the interop tests were run on, as the README lists them. */
  readonly testedWith: readonly [string, ...string[]];
  /** Opens the connector. It connects to no node before the first request needs one. */
  readonly open: (options: RemoteOptions) => NodeConnector;
  /** The command `connect <kind>`, which makes credentials for the configuration from access to a node. */
  readonly connect: {
    readonly description: string;
    readonly argument: { readonly name: string; readonly description: string };
    readonly options: readonly { readonly flags: string; readonly description: string }[];
    /** An example of the command, without the program's name. */
    readonly example: string;
    /** What this kind of node calls its tokens, such as macaroon. */
    readonly token: string;
    /**
     * Asks the node for its identity and finds out what the token allows. Throws error 7 for input that cannot be
     * right.
     */
    readonly find: (input: ConnectInput) => Promise<ConnectedNode>;
  };
}
