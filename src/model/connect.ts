import type { Network } from '../codecs/network.ts';
import type { Permission } from './clients/permissions.ts';
import type { NodeCredentials } from './credentials.ts';
import type { ProxyAddress } from './proxy-address.ts';

/** The input of the command `connect <kind>`. */
export interface ConnectInput {
  readonly argument: string | undefined;
  /** Values of the options, by their names in camel case. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** Reads a file that an option names; `-` is stdin. Throws an error for the user when it cannot be read. */
  readonly read: (path: string) => Uint8Array;
  /** The proxy through which nodes are reached; null is none. */
  readonly proxy: ProxyAddress | null;
  /** Tells the user something before the result. */
  readonly tell: (sentence: string) => void;
}

/** A node that `connect` reached, with its version and what the token allows. */
export interface ConnectedNode {
  readonly version: string;
  /** The permissions for which the token suffices. */
  readonly permissions: readonly Permission[];
  readonly credentials: NodeCredentials & { readonly nodePk: string; readonly network: Network };
}

/** A kind of node that the command line can connect to. */
export interface ConnectKind {
  /** The name shown to people. */
  readonly title: string;
  /** The command `connect <kind>`, which makes credentials for the configuration from access to a node. */
  readonly connect: {
    readonly description: string;
    /** Access in one piece of text; null for a kind of node that has no such form. */
    readonly argument: { readonly name: string; readonly description: string } | null;
    readonly options: readonly { readonly flags: string; readonly description: string }[];
    /** An example of the command, without the program's name. */
    readonly example: string;
    /** What this kind of node calls its tokens, such as macaroon. */
    readonly token: string;
    /** Finds out the node's identity and what the token allows. Throws error 7 for input that cannot be right. */
    readonly find: (input: ConnectInput) => Promise<ConnectedNode>;
  };
}
