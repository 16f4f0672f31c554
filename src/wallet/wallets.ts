import { createHash, timingSafeEqual } from 'node:crypto';
import { peek } from 'bun';
import { isSameSecret } from '../lib/same-secret.ts';
import { type ClientRecord, isActive } from '../model/client.ts';
import { decodeCredentials, type NodeCredentials } from '../model/credentials.ts';
import { ApiError, endedCredentials, isApiError } from '../model/errors.ts';
import type { PaymentIndex } from '../model/payment-index.ts';
import type { NodeConnector, WalletNode } from '../nodes/node.ts';
import { replaceExposedToken } from './client-tokens.ts';
import type { FeedStanding, Follower } from './feed.ts';
import { type LiveClient, type LiveClients, liveClients } from './live-clients.ts';
import { OpenWallets, type OpenWalletsOptions } from './open-wallets.ts';
import { clientSeal, configuredSeal, rootSeal } from './seal-keys.ts';
import type { Session } from './session.ts';

/** Wallets and sessions kept open while idle; busy ones are kept beyond that. */
const KEPT_OPEN = 256;

interface WalletsOptions extends OpenWalletsOptions {
  /** The connector of a kind of node, or null when this sidecar has none of that kind. */
  readonly connector: (kind: string) => NodeConnector | null;
  /** The connector of the node that the configured root seed controls. */
  readonly rootConnector: NodeConnector;
  readonly rootSeed: Uint8Array | null;
  readonly defaultCredentials: string | null;
  /** The nodes that configuration names, the default one included. */
  readonly configured: readonly NodeCredentials[];
}

/** Opens wallets by credential, keeps them while they are used or watched, and closes them after that. */
export class Wallets {
  readonly #options: WalletsOptions;
  readonly #live: LiveClients = liveClients();
  readonly #wallets: OpenWallets;
  /** By {@link keyOf}; only of credentials that were found to be known here. */
  readonly #sessions = new Map<string, Promise<Session>>();
  /** Of configured nodes. */
  readonly #owners = new Map<NodeCredentials, Promise<Session>>();
  #root: Promise<Session> | null = null;

  constructor(options: WalletsOptions) {
    this.#options = options;
    this.#wallets = new OpenWallets(options, this.#live, (walletId, open) =>
      this.#follower(walletId, open),
    );
  }

  /**
   * The wallet that credentials name; without any, the default one (contract, Authentication). Throws
   * `unauthenticated` when there are none or they are not good, `refused` before signup.
   */
  async open(credentials: string | null): Promise<Session> {
    const session = await this.#open(credentials ?? this.#options.defaultCredentials);
    if (!session.ended.aborted) return session;
    throw session.ended.reason;
  }

  /** {@link open} without waiting: the session of credentials that are open already and still good, or null. */
  opened(credentials: string | null): Session | null {
    const opening = this.#known(credentials ?? this.#options.defaultCredentials);
    if (opening === null || peek.status(opening) !== 'fulfilled') return null;
    const session = peek(opening) as Session;
    return session.ended.aborted ? null : session;
  }

  /** Creates the wallet of the configured root seed (contract, signup). */
  async signup(partnerPk: string | null): Promise<void> {
    await this.#options.rootConnector.signup(this.#rootSeed(), { partnerPk });
  }

  /** Provisions the configured root seed's node to trusted releases (contract, provision). */
  async provision(): Promise<void> {
    await this.#options.rootConnector.provision(this.#rootSeed());
  }

  /** The wallet of another root seed, as its owner, for one use: the session is not kept. */
  async openSeed(rootSeed: Uint8Array): Promise<Session> {
    const session = await this.#openSeed(rootSeed);
    this.#wallets.forget(session);
    return session;
  }

  /** Takes up watching, and unfinished sends, where they were when the process stopped. */
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
          this.#options.log.warn('Unfinished sends are compared with the node later.', {
            walletId,
            error,
          }),
        );
    }
  }

  /** Watches a payment that was issued for a wallet without a request of its owner: by its Lightning Address. */
  async watchIssued(walletId: string, index: PaymentIndex): Promise<void> {
    await this.#options.store.watches.add(walletId, { kind: 'payment', index });
    this.#wallets.of(walletId).feed.watchAdded();
  }

  /** Looks at the clients in use again, since a clock was moved. */
  clockMoved(): void {
    this.#live.expire();
  }

  /** How many wallets and sessions are open, and how their open feeds stand. */
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

  /** The session that is open or being opened, or null. */
  #known(credentials: string | null): Promise<Session> | null {
    if (credentials === null) return this.#root;
    const key = keyOf(credentials);
    const known = this.#sessions.get(key);
    if (!known) return null;
    // Used again: move it to the young end.
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
    // What names nothing known is refused before any work is done or anything is kept for it.
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

  /** Finds out whose credentials these are, in the store and the configuration alone (decisions section 7). */
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

  /** The entry of the configuration with the same token, and the same node where both name it. */
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
      // Named after its token, so that it is the same over restarts.
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
      this.#options.log.warn('A client of an earlier version cannot be taken over.', { error });
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
      // The node that a root seed controls says which wallet it has when it is opened with the seed.
      const isRoots = connector === this.#options.rootConnector && this.#options.rootSeed !== null;
      if (!isRoots || !isApiError(error, 'unreachable')) throw error;
      await this.#open(null);
      return connect();
    });
    live = this.#live.open(found, node.clock);
    return { node, live };
  }

  /**
   * By what a wallet is followed whose owner has no open session: the owner's configured credentials, else those of a
   * client that is still active. A node that is out of reach may be another wallet's.
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
    // Which wallet a node that cannot be reached has is not known: it may be this one.
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

/** Sessions are looked up by hash, so that no comparison of secrets takes a telling time. */
function keyOf(credentials: string): string {
  return createHash('sha256').update(credentials).digest('base64');
}

/** Secrets are 32 bytes; of clients of the first version on LND the macaroon's hex text was hashed. */
function isSecretOf({ secretHash }: ClientRecord, secret: string): boolean {
  const kept = Buffer.from(secretHash, 'hex');
  const ofBytes = createHash('sha256').update(Buffer.from(secret, 'hex')).digest();
  const ofText = createHash('sha256').update(secret).digest();
  const [a, b] = [timingSafeEqual(ofBytes, kept), timingSafeEqual(ofText, kept)];
  return a || b;
}
