import type { Clock } from '../lib/clock.ts';
import { type KeyedLock, keyedLock } from '../lib/keyed-lock.ts';
import type { Log } from '../lib/log.ts';
import type { WalletNode } from '../nodes/node.ts';
import type { ObservationRules, Store } from '../store/ports.ts';
import { Feed, type FeedStanding, type Follower } from './feed.ts';
import { historyOf } from './history.ts';
import type { LiveClient, LiveClients } from './live-clients.ts';
import { Resolver } from './pay/resolver.ts';
import type { Session } from './session.ts';
import type { StoreGuard } from './store-guard.ts';

/** What every open wallet works with. */
export interface OpenWalletsOptions {
  readonly store: Store;
  readonly guard: StoreGuard;
  readonly rules: ObservationRules;
  readonly log: Log;
  readonly clock: Clock;
  /** Milliseconds that no change of the clock moves. */
  readonly elapsedMs: () => number;
  readonly random: () => number;
  readonly onDelivery: () => void;
}

interface OpenWallet {
  readonly feed: Feed;
  readonly resolver: Resolver;
  readonly locks: KeyedLock;
  readonly sessions: Set<Session>;
}

/** A session to open: who calls, and the node by that caller's token. */
interface SessionParts {
  readonly userPk: string;
  readonly node: WalletNode;
  readonly caller: Session['caller'];
  /** What a configured token allows; absent where it is everything. */
  readonly client?: ReturnType<Session['client']>;
  /** Absent for the wallet's owner. */
  readonly live?: LiveClient;
}

const NEVER = new AbortController().signal;

/** The wallets that are open, each with its feed, its unfinished sends and its sessions. */
export class OpenWallets {
  readonly #options: OpenWalletsOptions;
  readonly #live: LiveClients;
  /** By what a wallet without an open session of its owner is followed. */
  readonly #follower: (walletId: string, open: Session | null) => Promise<Follower | null>;
  readonly #wallets = new Map<string, OpenWallet>();

  constructor(
    options: OpenWalletsOptions,
    live: LiveClients,
    follower: (walletId: string, open: Session | null) => Promise<Follower | null>,
  ) {
    this.#options = options;
    this.#live = live;
    this.#follower = follower;
  }

  /** The wallet, opened when it is not. */
  of(walletId: string): OpenWallet {
    const known = this.#wallets.get(walletId);
    if (known) return known;
    const { store, log, random, elapsedMs } = this.#options;
    const sessions = new Set<Session>();
    const follower = async () => {
      const owner = [...sessions].find((session) => session.isOwner);
      const [open] = sessions;
      return owner ?? this.#follower(walletId, open ?? null);
    };
    const feed = new Feed({ ...this.#options, walletId, follower });
    const node = async () => (await follower())?.node ?? null;
    const resolver = new Resolver({ walletId, store, feed, log, random, elapsedMs, node });
    const wallet = { feed, resolver, locks: keyedLock(), sessions };
    this.#wallets.set(walletId, wallet);
    return wallet;
  }

  /** Opens a session, which the wallet keeps until {@link forget} or until its credential ends. */
  adopt(parts: SessionParts): Session {
    const { userPk, caller, node, live } = parts;
    const { store, log, guard } = this.#options;
    const { feed, resolver, locks, sessions } = this.of(userPk);
    const session: Session = {
      userPk,
      caller,
      isOwner: live === undefined,
      hasBudget: () => live?.record().budgetState === 'set',
      client: () => live?.record() ?? parts.client ?? null,
      onGrantChange: live?.onChange ?? (() => () => undefined),
      get ended() {
        return live?.ended ?? NEVER;
      },
      node,
      store,
      log,
      guard,
      liveClients: this.#live,
      feed,
      resolver,
      locks,
      history: historyOf(node, userPk, store, feed),
    };
    sessions.add(session);
    live?.ended.addEventListener('abort', () => sessions.delete(session), { once: true });
    feed.credentialAdded();
    return session;
  }

  /** Lets a session go that nobody is given any more. */
  forget(session: Session): void {
    this.#wallets.get(session.userPk)?.sessions.delete(session);
  }

  /** Closes wallets beyond `most` that are idle and unwatched. */
  closeIdle(most: number): void {
    for (const [walletId, { feed, resolver, sessions }] of this.#wallets) {
      if (this.#wallets.size <= most) break;
      if (feed.busy || resolver.busy || sessions.size > 0) continue;
      feed.stop();
      resolver.stop();
      this.#wallets.delete(walletId);
    }
  }

  /** How many there are, and how their open feeds stand. */
  figures(): { wallets: number; feeds: readonly FeedStanding[] } {
    const standings = [...this.#wallets.values()].map(({ feed }) => feed.standing);
    return {
      wallets: this.#wallets.size,
      feeds: standings.filter((standing) => standing !== null),
    };
  }

  stop(): void {
    for (const { feed, resolver } of this.#wallets.values()) {
      feed.stop();
      resolver.stop();
    }
  }
}
