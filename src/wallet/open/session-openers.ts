import { createHash, timingSafeEqual } from 'node:crypto';
import { hex } from '@scure/base';
import { isSameSecret } from '../../lib/secrets/same-secret.ts';
import { type ClientRecord, OWNER_CALLER } from '../../model/clients/client.ts';
import type { Permission } from '../../model/clients/permissions.ts';
import { decodeCredentials, type NodeCredentials } from '../../model/credentials.ts';
import { ApiError, endedCredentials, isApiError } from '../../model/errors.ts';
import type { NodeConnector, WalletNode } from '../../nodes/node.ts';
import { endedAtNode } from '../clients/client-family.ts';
import { replaceExposedToken } from '../clients/client-tokens.ts';
import type { LiveClient, LiveClients } from '../session/live-clients.ts';
import type { Session } from '../session/session.ts';
import type { OpenWallets, OpenWalletsOptions } from './open-wallets.ts';
import { sealOf } from './seal-keys.ts';

/** The nodes that this process was started with, and the credentials of them that the configuration names. */
export interface NodesOptions extends OpenWalletsOptions {
  /** The connector of a kind of node, or null when this sidecar has none of that kind. */
  readonly connector: (kind: string) => NodeConnector | null;
  /** The connector of the node that the configured root seed controls. */
  readonly rootConnector: NodeConnector;
  readonly rootSeed: Uint8Array | null;
  /** The credentials of the nodes that the configuration names, the default one included. */
  readonly configured: readonly NodeCredentials[];
}

interface OpenerParts {
  readonly live: LiveClients;
  readonly wallets: OpenWallets;
  readonly openRoot: () => Promise<Session>;
}

/** Opens the sessions of clients and of configured nodes. */
export class SessionOpeners {
  readonly #options: NodesOptions;
  readonly #live: LiveClients;
  readonly #wallets: OpenWallets;
  readonly #openRoot: () => Promise<Session>;
  /** Sessions of the owners of configured nodes. */
  readonly #owners = new Map<NodeCredentials, Promise<Session>>();

  constructor(options: NodesOptions, { live, wallets, openRoot }: OpenerParts) {
    this.#options = options;
    this.#live = live;
    this.#wallets = wallets;
    this.#openRoot = openRoot;
  }

  /**
   * Finds the client or configured node of these credentials, in the store and the configuration alone
   * (docs/decisions.md 56). Returns a function that opens the session.
   */
  async of(text: string): Promise<() => Promise<Session>> {
    const credentials = decodeCredentials(text);
    if (credentials?.client) {
      const { client, secret } = credentials.client;
      const record = await this.#options.store.clients.find(client);
      if (record && isSecretOf(record, secret)) {
        if (record.revokedAtMs !== null) throw endedCredentials();
        return () => this.#openClient(record, secret);
      }
    }
    const entry = credentials?.node && this.#configured(credentials.node);
    if (entry) return () => this.#openConfigured(entry);
    throw endedCredentials();
  }

  /** Works as {@link of} for the client of a device, whose own secret seals the outcomes that are kept for it. */
  async ofDevice(clientPk: string, secret: string): Promise<() => Promise<Session>> {
    const record = await this.#options.store.clients.find(clientPk);
    if (record === null || record.revokedAtMs !== null) throw endedCredentials();
    return () => this.#openClient(record, secret);
  }

  /** The entry of the configuration with the same token, and with the same node key where both name one. */
  #configured(given: NodeCredentials): NodeCredentials | null {
    const same = this.#options.configured.find(
      (entry) =>
        isSameSecret(entry.token, given.token) &&
        (entry.nodePk === null || given.nodePk === null || entry.nodePk === given.nodePk),
    );
    return same ?? null;
  }

  /** The sessions of the owners of all nodes that this process was started with. */
  owners(): Promise<Session>[] {
    const { configured, rootSeed } = this.#options;
    const owners = configured.map((entry) => this.#openConfigured(entry));
    return rootSeed === null ? owners : [...owners, this.#openRoot()];
  }

  #openConfigured(entry: NodeCredentials): Promise<Session> {
    const known = this.#owners.get(entry);
    if (known) return known;
    const opening = this.#connectConfigured(entry);
    this.#owners.set(entry, opening);
    opening.catch(() => this.#owners.delete(entry));
    return opening;
  }

  async #connectConfigured(entry: NodeCredentials): Promise<Session> {
    const connector = this.#options.connector(entry.kind);
    if (!connector) throw endedCredentials();
    const { userPk, node, grant } = await connector.connectConfigured(entry);
    const createdAtMs = node.clock.now();
    const client = (permissions: readonly Permission[]) => ({
      // The id follows from the token, so that it is the same after a restart.
      clientPk: createHash('sha256').update(`configured ${entry.token}`).digest('hex'),
      createdAtMs,
      expiresAtMs: null,
      label: null,
      revokedAtMs: null,
      approveAboveMsat: null,
      origins: null,
      own: false,
      scopes: [],
      permissions,
    });
    const caller = { id: OWNER_CALLER, sealKey: sealOf(entry.token) };
    return this.#wallets.adopt({
      userPk,
      node,
      caller,
      ...(grant && { client: () => client(grant.now().permissions), configured: grant }),
    });
  }

  async #openClient(found: ClientRecord, secret: string): Promise<Session> {
    const { walletId } = found;
    const { node, live } = await this.connectClient(found);
    const session = this.#wallets.adopt({
      userPk: walletId,
      node,
      caller: { id: found.clientPk, sealKey: sealOf(secret) },
      live,
    });
    if (found.token?.exposed) await this.#replaceExposed(session, found.clientPk);
    return session;
  }

  async #replaceExposed(session: Session, clientPk: string): Promise<void> {
    try {
      this.#live.changed([await replaceExposedToken(session, clientPk)]);
    } catch (error) {
      this.#options.log.warn("A token in an earlier version's credentials could not be replaced.", {
        error,
      });
      throw new ApiError(
        'unauthenticated',
        'These credentials were made by an earlier version and hold the node\'s own token, which could not be replaced: ask the wallet owner for new ones ("wallet-sidecar clients create").',
        { cause: error },
      );
    }
  }

  /** The node as the client's own token reaches it, and the client's live state. */
  async connectClient(found: ClientRecord): Promise<{ node: WalletNode; live: LiveClient }> {
    let live: LiveClient | null = null;
    const connector = this.#connector(found.nodeKind);
    const token = () => {
      const { token: own } = live?.record() ?? found;
      if (own) return own;
      throw endedCredentials();
    };
    const ended = (tokenId: string) => void this.#endedAtNode(found, tokenId);
    const connect = () => connector.connectClient(found.walletId, token, ended);
    const { node } = await connect().catch(async (error) => {
      // Only opening the root seed's node with the seed shows which wallet it has.
      if (!this.#isRoots(connector) || !isApiError(error, 'unreachable')) throw error;
      await this.#openRoot();
      return connect();
    });
    // The client may have been changed or revoked while its node was connected to. Nothing else is awaited after this
    // read, so that every later change finds the live client.
    const current = await this.#options.store.clients.find(found.clientPk);
    if (current === null) throw endedCredentials();
    live = this.#live.open(current, node.clock);
    return { node, live };
  }

  /** Revokes a client whose token the operator ended (docs/decisions.md 156); tried again where it cannot be stored. */
  async #endedAtNode({ walletId, clientPk }: ClientRecord, tokenId: string): Promise<void> {
    const { store, guard, clock, log } = this.#options;
    try {
      const { records } = await store.clients.change(walletId, (all) => ({
        records: endedAtNode(all, { clientPk, tokenId }, clock.now()),
        budgets: [],
      }));
      if (records.length === 0) return;
      log.warn("The node does not accept a client's token any more, so the client is revoked.", {
        walletId,
        clientPk,
      });
      this.#live.changed(records);
      await guard.keepUp();
    } catch (error) {
      log.warn('A client whose token was ended at the node could not be revoked.', {
        walletId,
        clientPk,
        error,
      });
    }
  }

  /** The node of a wallet as its owner's token reaches it. Throws `unreachable` without a node of that kind. */
  async connectOwner(walletId: string, nodeKind: string): Promise<WalletNode> {
    const connector = this.#connector(nodeKind);
    // Only opening the root seed's node with the seed shows which wallet it has.
    if (this.#isRoots(connector)) await this.#openRoot().catch(() => null);
    return (await connector.connectOwner(walletId)).node;
  }

  #connector(nodeKind: string): NodeConnector {
    const connector = this.#options.connector(nodeKind);
    if (connector) return connector;
    throw new ApiError(
      'unreachable',
      `This wallet is on ${nodeKind}, and this sidecar was started without it.`,
    );
  }

  #isRoots(connector: NodeConnector): boolean {
    return connector === this.#options.rootConnector && this.#options.rootSeed !== null;
  }
}

/** A secret is 32 bytes, stored as its hash; of clients of version 0.1 on LND, the hash of the macaroon's hex. */
function isSecretOf({ secretHash }: ClientRecord, secret: string): boolean {
  const kept = hex.decode(secretHash);
  const ofBytes = createHash('sha256').update(hex.decode(secret)).digest();
  const ofText = createHash('sha256').update(secret).digest();
  const [a, b] = [timingSafeEqual(ofBytes, kept), timingSafeEqual(ofText, kept)];
  return a || b;
}
