import type { Permission } from '../model/clients/permissions.ts';
import type { NodeCredentials } from '../model/credentials.ts';
import type { WalletNode } from './wallet-node.ts';

/** What a token of a node that the configuration names allows. */
export interface TokenGrant {
  /** The permissions for which the token suffices. Those that the node cannot serve (error 110) are among them. */
  readonly permissions: readonly Permission[];
  /** Those of the permissions that the node can serve. */
  readonly served: readonly Permission[];
  /** Says to the owner what the token lacks for a permission, and how to make one that has it. */
  readonly lacks: (permission: Permission) => string;
}

/** What the token of a configured entry allows; the entry's file may name another token while the sidecar runs. */
export interface ConfiguredGrant {
  /** What the token allows that is used now. */
  now(): TokenGrant;
  /** The same, after the file was read again: for what the token lacks, and for what is shown of it. */
  reread(): TokenGrant;
}

/** A wallet opened with one token of its node. */
export interface ConnectedWallet {
  /** Hex ed25519 public key that identifies the wallet. */
  readonly userPk: string;
  readonly node: WalletNode;
  /** What a configured token allows; null where it allows everything, or where the sidecar's own grant decides. */
  readonly grant: ConfiguredGrant | null;
}

/** A client's token in the form in which the store keeps it. */
export interface ClientToken {
  readonly id: string;
  readonly token: string;
}

/** Opens wallets of one kind of node. It connects only to the places that it was opened with (docs/decisions.md 56). */
export interface NodeConnector {
  /** Opens the wallet of a configured entry, with the entry's own token. */
  connectConfigured(entry: NodeCredentials): Promise<ConnectedWallet>;
  /**
   * Opens a wallet with a token that {@link NodeTokens.issue} made for a client. `token` is called for each request,
   * because a changed grant replaces the token. `ended` is called with the id of a token that the node certainly does
   * not accept any more (docs/decisions.md 156). Throws `unreachable` when no configured place speaks for the wallet.
   */
  connectClient(
    userPk: string,
    token: () => ClientToken,
    ended?: (tokenId: string) => void,
  ): Promise<ConnectedWallet>;
  /**
   * Opens a wallet with the token of its owner, for what no client causes, such as an invoice for a payer of its name.
   * Throws `unreachable` or `refused` when none of the configured places holds the wallet.
   */
  connectOwner(userPk: string): Promise<ConnectedWallet>;
  /** Opens the wallet of the root seed. Before signup it throws `refused` and names signup as the next step. */
  connectRoot(rootSeed: Uint8Array): Promise<ConnectedWallet>;
  /** Creates the wallet of the seed; a repeat does nothing (docs/decisions.md 79). */
  signup(rootSeed: Uint8Array, options: { partnerPk: string | null }): Promise<void>;
  /** Provisions the node to the trusted releases of a signed list, or unlocks it (docs/decisions.md 79). */
  provision(rootSeed: Uint8Array): Promise<void>;
  /**
   * Sentences for health about configured nodes that cannot be used now, or as they are configured. Returns at once
   * with what is known (docs/decisions.md 7); a node that was not in contact for long is asked in the background.
   */
  problems(): readonly string[];
  close(): Promise<void>;
}
