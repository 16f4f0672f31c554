import { createHash } from 'node:crypto';
import { peek } from 'bun';
import type { Clock } from '../lib/clock.ts';
import { type KeyedLock, keyedLock } from '../lib/keyed-lock.ts';
import type { Log } from '../lib/log.ts';
import { decodeCredentials, type NodeReference } from '../model/credentials.ts';
import { ApiError } from '../model/errors.ts';
import type { PaymentIndex } from '../model/payment-index.ts';
import type { NodeConnector, NodeSession } from '../nodes/node.ts';
import type { ObservationRules, Store } from '../store/ports.ts';
import { Feed, type FeedStanding } from './feed.ts';
import { historyOf } from './history.ts';
import type { Session } from './session.ts';

/** Wallets and sessions kept open while idle; busy ones are kept beyond that. */
const KEPT_OPEN = 256;

interface WalletsOptions {
  readonly store: Store;
  readonly rules: ObservationRules;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onDelivery: () => void;
  /** The connector that a credential's node reference needs, or null when this sidecar has none. */
  readonly connector: (reference: NodeReference) => NodeConnector | null;
  /** The connector of the node that the configured root seed controls. */
  readonly rootConnector: NodeConnector;
  readonly rootSeed: Uint8Array | null;
  readonly defaultCredentials: string | null;
}

interface OpenWallet {
  readonly feed: Feed;
  readonly locks: KeyedLock;
  readonly sessions: Set<NodeSession>;
}

/** Opens wallets by credential, keeps them while they are used or watched, and closes them after that. */
export class Wallets {
  readonly #options: WalletsOptions;
  readonly #wallets = new Map<string, OpenWallet>();
  /** By {@link keyOf}. */
  readonly #sessions = new Map<string, Promise<Session>>();
  #root: Promise<Session> | null = null;

  constructor(options: WalletsOptions) {
    this.#options = options;
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

  /** Takes up watching where it was when the process stopped. */
  async resumeWatching(): Promise<void> {
    for (const walletId of await this.#options.store.watches.wallets()) {
      await this.#wallet(walletId).feed.refreshWatched();
    }
  }

  /** Watches a payment that was issued for a wallet without a request of its owner: by its Lightning Address. */
  async watchIssued(walletId: string, index: PaymentIndex): Promise<void> {
    await this.#options.store.watches.add(walletId, { kind: 'payment', index });
    this.#wallet(walletId).feed.watchAdded();
  }

  /** How many wallets and sessions are open, and how their open feeds stand. */
  figures(): { wallets: number; sessions: number; feeds: readonly FeedStanding[] } {
    const standings = [...this.#wallets.values()].map(({ feed }) => feed.standing);
    return {
      wallets: this.#wallets.size,
      sessions: this.#sessions.size + (this.#root === null ? 0 : 1),
      feeds: standings.filter((standing) => standing !== null),
    };
  }

  /** Closes every wallet. */
  stop(): void {
    for (const { feed } of this.#wallets.values()) feed.stop();
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

  #open(credentials: string | null): Promise<Session> {
    const known = this.#known(credentials);
    if (known !== null) return known;
    if (credentials === null) {
      if (this.#options.rootSeed === null) {
        throw new ApiError(
          'unauthenticated',
          'No credentials: send the header "Authorization: Bearer <CLIENT_CREDENTIALS>", or start the sidecar with credentials.',
        );
      }
      this.#root = this.#openRoot().catch((error) => {
        this.#root = null;
        throw error;
      });
      return this.#root;
    }
    const key = keyOf(credentials);
    const opening = this.#openClient(credentials).then((session) => {
      session.ended.addEventListener('abort', () => this.#sessions.delete(key), { once: true });
      return session;
    });
    this.#sessions.set(key, opening);
    opening.catch(() => this.#sessions.delete(key));
    this.#evict();
    return opening;
  }

  async #openRoot(): Promise<Session> {
    const session = await this.#options.rootConnector.connectRoot(this.#rootSeed());
    return this.#adopt(session, async () => undefined);
  }

  async #openClient(credentials: string): Promise<Session> {
    const session = await this.#connect(credentials);
    let remembered: Promise<void> | null = null;
    const remember = () => {
      const clientPk = session.client()?.clientPk;
      if (clientPk === undefined) return Promise.resolve();
      remembered ??= this.#options.store.credentials.remember(
        session.userPk,
        clientPk,
        credentials,
      );
      return remembered;
    };
    session.ended.addEventListener('abort', () => void this.#forget(session), { once: true });
    return this.#adopt(session, remember);
  }

  async #forget(session: NodeSession): Promise<void> {
    const clientPk = session.client()?.clientPk;
    if (clientPk === undefined) return;
    try {
      await this.#options.store.credentials.forget(session.userPk, clientPk);
    } catch (error) {
      this.#options.log.warn('Ended credentials could not be removed from the store.', { error });
    }
  }

  async #connect(credentials: string): Promise<NodeSession> {
    const decoded = decodeCredentials(credentials);
    const connector = decoded && this.#options.connector(decoded.node);
    if (!connector) {
      throw new ApiError(
        'unauthenticated',
        'The credentials are malformed or unknown: send the whole string that create_client answered.',
      );
    }
    return connector.connect(decoded);
  }

  #adopt(session: NodeSession, remember: () => Promise<void>): Session {
    const wallet = this.#wallet(session.userPk);
    const { store } = this.#options;
    const adopted: Session = {
      ...session,
      store,
      remember,
      feed: wallet.feed,
      locks: wallet.locks,
      history: historyOf(session, session.userPk, store.journal, wallet.feed),
    };
    wallet.sessions.add(adopted);
    session.ended.addEventListener('abort', () => wallet.sessions.delete(adopted), { once: true });
    wallet.feed.credentialAdded();
    return adopted;
  }

  #wallet(walletId: string): OpenWallet {
    const known = this.#wallets.get(walletId);
    if (known) return known;
    const { store, rules, log, clock, random, onDelivery } = this.#options;
    const sessions = new Set<NodeSession>();
    const feed = new Feed({
      walletId,
      store,
      rules,
      log,
      clock,
      random,
      onDelivery,
      session: async () => sessions.values().next().value ?? this.#knownSession(walletId),
    });
    const wallet = { feed, locks: keyedLock(), sessions };
    this.#wallets.set(walletId, wallet);
    return wallet;
  }

  /** A session for a wallet that nobody has asked for since the start, from what is remembered. */
  async #knownSession(walletId: string): Promise<NodeSession | null> {
    for (const credentials of await this.#options.store.credentials.known(walletId)) {
      try {
        return await this.open(credentials);
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== 'unauthenticated') throw error;
      }
    }
    if (this.#options.rootSeed === null) return null;
    const root = await this.#open(null);
    return root.userPk === walletId ? root : null;
  }

  #evict(): void {
    for (const [key, session] of this.#sessions) {
      if (this.#sessions.size <= KEPT_OPEN) break;
      this.#sessions.delete(key);
      void session.then(
        (idle) => this.#wallets.get(idle.userPk)?.sessions.delete(idle),
        () => undefined,
      );
    }
    for (const [walletId, wallet] of this.#wallets) {
      if (this.#wallets.size <= KEPT_OPEN) break;
      if (wallet.feed.busy || wallet.sessions.size > 0) continue;
      wallet.feed.stop();
      this.#wallets.delete(walletId);
    }
  }
}

/** Sessions are looked up by hash, so that no comparison of secrets takes a telling time. */
function keyOf(credentials: string): string {
  return createHash('sha256').update(credentials).digest('base64');
}
