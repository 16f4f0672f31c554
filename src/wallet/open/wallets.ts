import { hash } from 'node:crypto';
import { isActive, OWNER_CALLER } from '../../model/clients/client.ts';
import { ApiError } from '../../model/errors.ts';
import type { Follower } from '../follow/feed-options.ts';
import type { FeedStanding } from '../session/feed-standing.ts';
import { type LiveClients, liveClients } from '../session/live-clients.ts';
import type { ServedWallet, Session } from '../session/session.ts';
import { OpenWallets, type OpenWalletsOptions } from './open-wallets.ts';
import { rootSeal } from './seal-keys.ts';
import { type NodesOptions, SessionOpeners } from './session-openers.ts';

/** How many wallets and sessions stay open while idle. Busy ones stay open beyond that. */
const KEPT_OPEN = 256;

interface WalletsOptions extends NodesOptions {
  readonly defaultCredentials: string | null;
}

/** A client as whom a browser stays signed in, and the browser's own secret, which seals outcomes (196). */
export interface ClientOfDevice {
  readonly clientPk: string;
  readonly secret: string;
}

/** Whether these are no credentials, but a browser that stays signed in as a client. */
export function isOfDevice(given: string | null | ClientOfDevice): given is ClientOfDevice {
  return typeof given === 'object' && given !== null;
}

/** Opens wallets by credentials, keeps them open while they are used or watched, and closes them afterwards. */
export class Wallets {
  readonly #options: WalletsOptions;
  readonly #live: LiveClients = liveClients();
  readonly #wallets: OpenWallets;
  readonly #openers: SessionOpeners;
  /** Sessions by {@link keyOf} of their credentials. Only known credentials have one. */
  readonly #sessions = new Map<string, Promise<Session>>();
  #root: Promise<Session> | null = null;

  constructor(options: WalletsOptions) {
    this.#options = options;
    const live = this.#live;
    this.#wallets = new OpenWallets(
      options,
      live,
      (walletId, open) => findFollower({ ...options, openers: this.#openers }, walletId, open),
      async (client) => (await this.#openers.connectClient(client)).node,
    );
    this.#openers = new SessionOpeners(options, {
      live,
      wallets: this.#wallets,
      openRoot: () => this.#known(null) ?? this.#open(null),
    });
  }

  /**
   * Opens the wallet that the credentials name; without credentials, the default wallet (docs/api.md, Authentication).
   * Throws `unauthenticated` (error 104) for missing, unknown, expired and revoked credentials, and `refused` (error
   * 106) before signup.
   */
  async open(credentials: string | null | ClientOfDevice): Promise<Session> {
    const given = credentials ?? this.#options.defaultCredentials;
    const session = await (isOfDevice(given)
      ? this.#openDevice(given)
      : (this.#known(given) ?? this.#open(given)));
    if (!session.ended.aborted) return session;
    throw session.ended.reason;
  }

  /** Creates the wallet of the root seed; a repeat does nothing. Throws error 104 without a root seed. */
  async signup(partnerPk: string | null): Promise<void> {
    await this.#options.rootConnector.signup(this.#rootSeed(), { partnerPk });
  }

  /** Provisions the node to trusted releases (docs/decisions.md 79). Throws error 104 without a root seed. */
  async provision(): Promise<void> {
    await this.#options.rootConnector.provision(this.#rootSeed());
  }

  /** Opens the wallet of another root seed, as its owner, for one use. The session is not kept. */
  async openSeed(rootSeed: Uint8Array): Promise<Session> {
    this.#wallets.closeIdle(KEPT_OPEN);
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
   * Does work in a wallet with its owner's token, for what none of its clients asks for. Throws `unreachable` when this
   * process was started without its node.
   */
  async asOwner<T>(
    walletId: string,
    nodeKind: string,
    work: (wallet: ServedWallet) => Promise<T>,
  ): Promise<T> {
    const node = await this.#openers.connectOwner(walletId, nodeKind);
    this.#wallets.closeIdle(KEPT_OPEN);
    const { feed } = this.#wallets.of(walletId);
    const { store, log, unfit = () => undefined } = this.#options;
    // A wallet without an open session could be closed as idle before its new watch is stored.
    const release = feed.hold();
    try {
      return await work({ userPk: walletId, node, store, feed, log, unfit });
    } finally {
      release();
    }
  }

  /** Must be called after a clock was moved. Ends clients that have expired, and what waited too long for approval. */
  async clockMoved(): Promise<void> {
    this.#live.expire();
    await this.#wallets.sweepApprovals();
  }

  figures(): { wallets: number; sessions: number; feeds: readonly FeedStanding[] } {
    return {
      ...this.#wallets.figures(),
      sessions: this.#sessions.size + (this.#root === null ? 0 : 1),
    };
  }

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
    return this.#openOnce(keyOf(credentials), await this.#openers.of(credentials));
  }

  #openDevice({ clientPk, secret }: ClientOfDevice): Promise<Session> {
    // No credentials hold a space, so that nobody sends this text.
    const text = `${clientPk} ${secret}`;
    const opening = () => this.#openers.ofDevice(clientPk, secret);
    return this.#known(text) ?? opening().then((open) => this.#openOnce(keyOf(text), open));
  }

  #openOnce(key: string, opener: () => Promise<Session>): Promise<Session> {
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
      caller: { id: OWNER_CALLER, sealKey: rootSeal(rootSeed) },
    });
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
  return hash('sha256', credentials, 'base64');
}

/** What {@link findFollower} looks through. */
interface FollowerParts extends Pick<OpenWalletsOptions, 'store' | 'clock'> {
  readonly openers: SessionOpeners;
}

/**
 * Returns the credential by which a wallet is followed: the owner's configured one, else an open session, else an
 * active client's. When the owner's node cannot be reached, it may be another wallet's, so the others are tried as
 * well.
 */
async function findFollower(
  parts: FollowerParts,
  walletId: string,
  open: Session | null,
): Promise<Follower | null> {
  try {
    const owner = await ownerOf(parts.openers, walletId);
    return owner ?? open ?? (await anyClientOf(parts, walletId));
  } catch (error) {
    const client = open ?? (await anyClientOf(parts, walletId));
    if (client) return client;
    throw error;
  }
}

async function ownerOf(openers: SessionOpeners, walletId: string): Promise<Session | null> {
  const opened = await Promise.allSettled(openers.owners());
  for (const owner of opened) {
    if (owner.status === 'fulfilled' && owner.value.userPk === walletId) return owner.value;
  }
  // A node that cannot be reached may be the one of this wallet.
  const failed = opened.find((owner) => owner.status === 'rejected');
  if (failed) throw failed.reason;
  return null;
}

async function anyClientOf(
  { store, clock, openers }: FollowerParts,
  walletId: string,
): Promise<Follower | null> {
  for (const record of await store.clients.list(walletId)) {
    if (record.token === null || record.token.exposed || !isActive(record, clock.now())) continue;
    const { node, live } = await openers.connectClient(record);
    return { node, ended: live.ended };
  }
  return null;
}
