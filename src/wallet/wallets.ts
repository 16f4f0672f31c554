import { createHash, timingSafeEqual } from 'node:crypto';
import { isSameSecret } from '../lib/same-secret.ts';
import { type ClientRecord, isActive } from '../model/client.ts';
import { decodeCredentials, type NodeCredentials } from '../model/credentials.ts';
import { ApiError, endedCredentials, isApiError } from '../model/errors.ts';
import type { PaymentIndex } from '../model/payment-index.ts';
import type { NodeConnector, WalletNode } from '../nodes/node.ts';
import { replaceExposedToken } from './client-tokens.ts';
import type { Follower } from './feed.ts';
import type { FeedStanding } from './feed-standing.ts';
import { type LiveClient, type LiveClients, liveClients } from './live-clients.ts';
import { OpenWallets, type OpenWalletsOptions } from './open-wallets.ts';
import { clientSeal, configuredSeal, rootSeal } from './seal-keys.ts';
import type { Session } from './session.ts';

/** How many wallets and sessions stay open while idle. Busy ones stay open beyond that. */
const KEPT_OPEN = 256;

interface WalletsOptions extends OpenWalletsOptions {
  /** The connector of a kind of node, or null when this sidecar has none of that kind. */
  readonly connector: (kind: string) => NodeConnector | null;
  /** The connector of the node that the configured root seed controls. */
  readonly rootConnector: NodeConnector;
  readonly rootSeed: Uint8Array | null;
  readonly defaultCredentials: string | null;
  /** The credentials of the nodes that the configuration names, the default one included. */
  readonly configured: readonly NodeCredentials[];
}

/** Opens wallets by credentials, keeps them open while they are used or watched, and closes them afterwards. */
export class Wallets {
  readonly #options: WalletsOptions;
  readonly #live: LiveClients = liveClients();
  readonly #wallets: OpenWallets;
  /** Sessions by {@link keyOf} of their credentials. Only known credentials have one. */
  readonly #sessions = new Map<string, Promise<Session>>();
  /** Sessions of the owners of configured nodes. */
  readonly #owners = new Map<NodeCredentials, Promise<Session>>();
  #root: Promise<Session> | null = null;

  constructor(options: WalletsOptions) {
    this.#options = options;
    this.#wallets = new OpenWallets(options, this.#live, (walletId, open) =>
      this.#follower(walletId, open),
    );
  }

  /**
   * Opens the wallet that the credentials name; without credentials, the default wallet (docs/api.md, Authentication).
   * Throws `unauthenticated` (error 104) for missing, unknown, expired and revoked credentials, and `refused` (error
   * 106) before signup.
   */
  async open(credentials: string | null): Promise<Session> {
    const session = await this.#open(credentials ?? this.#options.defaultCredentials);
    if (!session.ended.aborted) return session;
    throw session.ended.reason;
  }

  /**
   * Creates the wallet of the configured root seed. A repeat does nothing. Throws `unauthenticated` (error 104) without
   * a root seed.
   */
  async signup(partnerPk: string | null): Promise<void> {
    await this.#options.rootConnector.signup(this.#rootSeed(), { partnerPk });
  }

  /**
   * Provisions the node of the configured root seed to trusted releases (docs/decisions.md 79). Throws
   * `unauthenticated` (error 104) without a root seed.
   */
  async provision(): Promise<void> {
    await this.#options.rootConnector.provision(this.#rootSeed());
  }

  /** Opens the wallet of another root seed, as its owner, for one use. The session is not kept. */
  async openSeed(rootSeed: Uint8Array): Promise<Session> {
    const session = await this.#openSeed(rootSeed);
    this.#wallets.forget(session);
    return session;
  }

  /** Resumes watches and unfinished spends of the previous process. */
  async resume(): Promise<void> {
    const { watches, spends } = this.#options.store;
    for (const walletId of await watches.wallets()) {
      await this.#wallets.of(walletId).feed.refreshWatched();
    }
    for (const walletId of await spends.wallets()) {
      this.#wallets
        .of(walletId)
        .resolver.ready()
        .catch((error) =>
          this.#options.log.warn(
            'Unfinished payments could not be compared with the node. They are compared before the next write.',
            {
              walletId,
              error,
            },
          ),
        );
    }
  }

  /**
   * Watches an invoice that was issued without a request of the wallet's owner: to a payer of its Lightning Address.
   */
  async watchIssued(walletId: string, index: PaymentIndex): Promise<void> {
    await this.#options.store.watches.add(walletId, { kind: 'payment', index });
    this.#wallets.of(walletId).feed.watchAdded();
  }

  /** Must be called after a clock was moved. Ends the clients that have expired. */
  clockMoved(): void {
    this.#live.expire();
  }

  /** How many wallets and sessions are open, and the states of their open feeds. */
  figures(): { wallets: number; sessions: number; feeds: readonly FeedStanding[] } {
    return {
      ...this.#wallets.figures(),
      sessions: this.#sessions.size + (this.#root === null ? 0 : 1),
    };
  }

  /** Closes every wallet. */
  stop(): void {
    this.#wallets.stop();
    this.#live.close();
  }

  #rootSeed(): Uint8Array {
    const { rootSeed } = this.#options;
    if (rootSeed) return rootSeed;
    throw new ApiError(
      'unauthenticated',
      'This needs the root seed: start the sidecar with --root-seed-path or SERVICE_ROOT_SEED.',
    );
  }

  /** The session of these credentials that is open or being opened, or null. */
  #known(credentials: string | null): Promise<Session> | null {
    if (credentials === null) return this.#root;
    const key = keyOf(credentials);
    const known = this.#sessions.get(key);
    if (!known) return null;
    // A Map keeps insertion order: moving the session to its end marks it as used last.
    this.#sessions.delete(key);
    this.#sessions.set(key, known);
    return known;
  }

  async #open(credentials: string | null): Promise<Session> {
    const known = this.#known(credentials);
    if (known !== null) return known;
    if (credentials === null) {
      if (this.#options.rootSeed === null) {
        throw new ApiError(
          'unauthenticated',
          'No credentials: send the header "Authorization: Bearer <CLIENT_CREDENTIALS>", or start the sidecar with credentials.',
        );
      }
      this.#root = this.#openSeed(this.#options.rootSeed).catch((error) => {
        this.#root = null;
        throw error;
      });
      return this.#root;
    }
    // Unknown credentials are rejected before any work is done or anything is stored for them.
    const opener = await this.#openerOf(credentials);
    const key = keyOf(credentials);
    const opened = this.#sessions.get(key);
    if (opened) return opened;
    const opening = opener().then((session) => {
      session.ended.addEventListener('abort', () => this.#sessions.delete(key), { once: true });
      return session;
    });
    this.#sessions.set(key, opening);
    opening.catch(() => this.#sessions.delete(key));
    this.#evict();
    return opening;
  }

  async #openSeed(rootSeed: Uint8Array): Promise<Session> {
    const { node, userPk } = await this.#options.rootConnector.connectRoot(rootSeed);
    return this.#wallets.adopt({
      userPk,
      node,
      caller: { id: 'owner', sealKey: rootSeal(rootSeed) },
    });
  }

  /**
   * Finds the client or configured node of these credentials, in the store and the configuration alone
   * (docs/decisions.md 56). Returns a function that opens the session.
   */
  async #openerOf(text: string): Promise<() => Promise<Session>> {
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

  /** The entry of the configuration with the same token, and with the same node key where both name one. */
  #configured(given: NodeCredentials): NodeCredentials | null {
    const same = this.#options.configured.find(
      (entry) =>
        isSameSecret(entry.token, given.token) &&
        (entry.nodePk === null || given.nodePk === null || entry.nodePk === given.nodePk),
    );
    return same ?? null;
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
    const { userPk, node, permissions } = await connector.connectConfigured(entry);
    const client = {
      // The id follows from the token, so that it is the same after a restart.
      clientPk: createHash('sha256').update(`configured ${entry.token}`).digest('hex'),
      createdAtMs: node.clock.now(),
      expiresAtMs: null,
      label: null,
      revokedAtMs: null,
      scopes: [],
      permissions: permissions ?? [],
    };
    const caller = { id: 'owner', sealKey: configuredSeal(entry.token) };
    return this.#wallets.adopt({ userPk, node, caller, ...(permissions ? { client } : {}) });
  }

  async #openClient(found: ClientRecord, secret: string): Promise<Session> {
    const { walletId } = found;
    const { node, live } = await this.#connectClient(found);
    const session = this.#wallets.adopt({
      userPk: walletId,
      node,
      caller: { id: found.clientPk, sealKey: clientSeal(secret) },
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

  async #connectClient(found: ClientRecord): Promise<{ node: WalletNode; live: LiveClient }> {
    let live: LiveClient | null = null;
    const connector = this.#options.connector(found.nodeKind);
    if (!connector) {
      throw new ApiError(
        'unreachable',
        `These credentials are for a wallet on ${found.nodeKind}, and this sidecar was started without it.`,
      );
    }
    const token = () => {
      const { token: own } = live?.record() ?? found;
      if (own) return own;
      throw endedCredentials();
    };
    const connect = () => connector.connectClient(found.walletId, token);
    const { node } = await connect().catch(async (error) => {
      // Only opening the root seed's node with the seed shows which wallet it has.
      const isRoots = connector === this.#options.rootConnector && this.#options.rootSeed !== null;
      if (!isRoots || !isApiError(error, 'unreachable')) throw error;
      await this.#open(null);
      return connect();
    });
    // The client may have been changed or revoked while its node was connected to. Nothing else is awaited after this
    // read, so that every later change finds the live client.
    const current = await this.#options.store.clients.find(found.clientPk);
    if (current === null) throw endedCredentials();
    live = this.#live.open(current, node.clock);
    return { node, live };
  }

  /**
   * The credential by which a wallet is followed: the owner's configured one, else an open session, else an active
   * client's. When the owner's node cannot be reached, it may be another wallet's, so the others are tried as well.
   */
  async #follower(walletId: string, open: Session | null): Promise<Follower | null> {
    try {
      const owner = await this.#ownerOf(walletId);
      return owner ?? open ?? (await this.#anyClientOf(walletId));
    } catch (error) {
      const client = open ?? (await this.#anyClientOf(walletId));
      if (client) return client;
      throw error;
    }
  }

  async #ownerOf(walletId: string): Promise<Session | null> {
    const owners = this.#options.configured.map((entry) => this.#openConfigured(entry));
    if (this.#options.rootSeed !== null) owners.push(this.#open(null));
    const opened = await Promise.allSettled(owners);
    for (const owner of opened) {
      if (owner.status === 'fulfilled' && owner.value.userPk === walletId) return owner.value;
    }
    // A node that cannot be reached may be the one of this wallet.
    const failed = opened.find((owner) => owner.status === 'rejected');
    if (failed) throw failed.reason;
    return null;
  }

  async #anyClientOf(walletId: string): Promise<Follower | null> {
    const { store, clock } = this.#options;
    for (const record of await store.clients.list(walletId)) {
      if (record.token === null || record.token.exposed || !isActive(record, clock.now())) continue;
      const { node, live } = await this.#connectClient(record);
      return { node, ended: live.ended };
    }
    return null;
  }

  #evict(): void {
    for (const [key, session] of this.#sessions) {
      if (this.#sessions.size <= KEPT_OPEN) break;
      this.#sessions.delete(key);
      void session.then(
        (idle) => this.#wallets.forget(idle),
        () => undefined,
      );
    }
    this.#wallets.closeIdle(KEPT_OPEN);
  }
}

/** Sessions are looked up by a hash, so that the time of the look-up reveals nothing of a secret. */
function keyOf(credentials: string): string {
  return createHash('sha256').update(credentials).digest('base64');
}

/**
 * A secret is 32 bytes, and their hash is stored. For clients of version 0.1 on LND, the hash is of the macaroon's hex
 * text.
 */
function isSecretOf({ secretHash }: ClientRecord, secret: string): boolean {
  const kept = Buffer.from(secretHash, 'hex');
  const ofBytes = createHash('sha256').update(Buffer.from(secret, 'hex')).digest();
  const ofText = createHash('sha256').update(secret).digest();
  const [a, b] = [timingSafeEqual(ofBytes, kept), timingSafeEqual(ofText, kept)];
  return a || b;
}
