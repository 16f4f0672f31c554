import type { Network } from '../codecs/network.ts';
import type { Clock } from '../lib/clock.ts';
import type { NodeCredentials } from '../model/credentials.ts';
import type { Permission } from '../model/permissions.ts';
import type { NodeConnector } from './node.ts';
import type { RemoteLocation } from './remote/location.ts';

/** Whom channels are opened to. */
export interface ChannelPeer {
  /** Hex node key. */
  readonly pubkey: string;
  /** `host:port`. */
  readonly host: string;
}

/** JSON rows in which a connector keeps what its node cannot, by wallet, kind of row and key. */
export interface ConnectorRows {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
}

/** What a connector is opened with. It goes to no place but `root` and those of `entries`. */
export interface RemoteOptions {
  readonly state: ConnectorRows;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** The node that the root seed controls; null when it controls none of this kind. */
  readonly root: RemoteLocation | null;
  /** What `connect` wrote, each for a node of its own. */
  readonly entries: readonly NodeCredentials[];
  /** Null refuses to open channels. */
  readonly channelPeer: ChannelPeer | null;
  /** Hex id of this installation, by which it knows the tokens that it made. */
  readonly mark: string;
}

/** What a person gives to `connect <kind>`. */
export interface ConnectInput {
  readonly argument: string | undefined;
  /** Values of the options, by their names in camel case. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** The bytes of a file that an option names. Throws what tells the person that it cannot be read. */
  readonly read: (path: string) => Uint8Array;
}

/** A node that `connect` has found, and what was found out about it. */
export interface ConnectedNode {
  readonly version: string;
  /** What the token is good for. */
  readonly permissions: readonly Permission[];
  readonly credentials: NodeCredentials & { readonly nodePk: string; readonly network: Network };
}

/** All that the program knows of a kind of node that runs outside it. */
export interface RemoteNodeKind {
  /** What people call it. */
  readonly title: string;
  /** The releases that the interop tests were run on, as the README lists them. */
  readonly testedWith: readonly [string, ...string[]];
  /** Opens the connector. Asks no node before the first request needs it. */
  readonly open: (options: RemoteOptions) => NodeConnector;
  /** The command that turns access to a node into what configuration takes. */
  readonly connect: {
    readonly description: string;
    readonly argument: { readonly name: string; readonly description: string };
    readonly options: readonly { readonly flags: string; readonly description: string }[];
    /** Without the program's name. */
    readonly example: string;
    /** What the token is called at this kind of node, such as a macaroon. */
    readonly token: string;
    /** Asks the node who it is and what the token may do. Throws error 7 for input that cannot be right. */
    readonly find: (input: ConnectInput) => Promise<ConnectedNode>;
  };
}
