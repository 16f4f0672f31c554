import { type KeyedLock, keyedLock } from '../../lib/keyed-lock.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { ConfiguredGrant, WalletNode } from '../../nodes/node.ts';
import type { BudgetRules, LowBudgetRules } from '../../store/ports.ts';
import { budgetRules } from '../budget/budget.ts';
import { Feed } from '../follow/feed.ts';
import type { FeedOptions, Follower } from '../follow/feed-options.ts';
import { historyOf } from '../follow/history.ts';
import { Approvals } from '../pay/approvals.ts';
import { Resolver } from '../pay/resolver.ts';
import type { FeedStanding } from '../session/feed-standing.ts';
import type { LiveClient, LiveClients } from '../session/live-clients.ts';
import type { StoreGuard } from '../session/ports.ts';
import type { Session } from '../session/session.ts';

/** The parts that all wallets of this process use. */
export interface OpenWalletsOptions extends Omit<FeedOptions, 'walletId' | 'follower'> {
  readonly guard: StoreGuard;
  readonly lowBudget: LowBudgetRules['deliver'];
  /** For how long a payment waits for approval, in milliseconds. */
  readonly approvalMs: number;
  /** Called with a sentence about what a node answered that cannot be so, so that health can say it. */
  readonly unfit?: (problem: string) => void;
  /** Called with the index of an unfinished payment whose row cannot be read, so that health can say so. */
  readonly unreadable?: (index: PaymentIndex) => void;
}

interface OpenWallet {
  readonly feed: Feed;
  readonly resolver: Resolver;
  readonly approvals: Approvals;
  readonly locks: KeyedLock;
  readonly sessions: Set<Session>;
}

interface SessionParts {
  readonly userPk: string;
  readonly node: WalletNode;
  readonly caller: Session['caller'];
  /** The owner of a configured token as a client; absent when the token allows everything. */
  readonly client?: Session['client'];
  /** What that token allows; absent as `client` is. */
  readonly configured?: ConfiguredGrant;
  /** The state of the client that calls; absent for the wallet's owner. */
  readonly live?: LiveClient;
}

const NEVER = new AbortController().signal;
/** How often feeds that nothing uses are looked for. */
const CLOSE_UNUSED_MS = 30_000;

/** The open wallets, each with its feed, its resolver of unfinished spends, its locks and its sessions. */
export class OpenWallets {
  readonly #options: OpenWalletsOptions;
  readonly #live: LiveClients;
  /** Finds the credential by which a wallet's node is followed; `open`: an open session of it, if any. */
  readonly #follower: (walletId: string, open: Session | null) => Promise<Follower | null>;
  readonly #nodeOf: Session['nodeOf'];
  readonly #budgetRules: BudgetRules;
  readonly #wallets = new Map<string, OpenWallet>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    options: OpenWalletsOptions,
    live: LiveClients,
    follower: (walletId: string, open: Session | null) => Promise<Follower | null>,
    nodeOf: Session['nodeOf'],
  ) {
    this.#options = options;
    this.#live = live;
    this.#follower = follower;
    this.#nodeOf = nodeOf;
    const { lowBudget: deliver, onDelivery } = options;
    this.#budgetRules = { ...budgetRules, low: { deliver, onDelivery } };
    this.#timer = setInterval(() => this.closeUnusedFeeds(), CLOSE_UNUSED_MS);
    this.#timer.unref();
  }

  /** The open wallet; opens it if needed. */
  of(walletId: string): OpenWallet {
    const known = this.#wallets.get(walletId);
    if (known) return known;
    const sessions = new Set<Session>();
    const follower = async () => {
      const owner = [...sessions].find((session) => session.isOwner);
      const [open] = sessions;
      return owner ?? this.#follower(walletId, open ?? null);
    };
    const feed = new Feed({ ...this.#options, walletId, follower });
    const node = async () => (await follower())?.node ?? null;
    const locks = keyedLock();
    const parts = { ...this.#options, walletId, feed, node, locks };
    const approvals = new Approvals(parts);
    const resolver = new Resolver({ ...parts, approvals });
    const wallet = { feed, resolver, approvals, locks, sessions };
    this.#wallets.set(walletId, wallet);
    return wallet;
  }

  /** Opens a session. The wallet keeps it until {@link forget} is called or its credential ends. */
  adopt(parts: SessionParts): Session {
    const { userPk, caller, node, live } = parts;
    const { store, log, guard, unfit = () => undefined } = this.#options;
    const { feed, resolver, approvals, locks, sessions } = this.of(userPk);
    const session: Session = {
      userPk,
      caller,
      isOwner: live === undefined,
      tokenId: () => live?.record().token?.id ?? null,
      hasBudget: () => live?.record().budgetState === 'set',
      client: () => live?.record() ?? parts.client?.() ?? null,
      configured: parts.configured ?? null,
      onGrantChange: live?.onChange ?? (() => () => undefined),
      get ended() {
        return live?.ended ?? NEVER;
      },
      node,
      store,
      log,
      guard,
      budgetRules: this.#budgetRules,
      unfit,
      liveClients: this.#live,
      feed,
      resolver,
      approvals,
      nodeOf: this.#nodeOf,
      locks,
      history: historyOf(node, userPk, store, feed),
    };
    sessions.add(session);
    live?.ended.addEventListener('abort', () => sessions.delete(session), { once: true });
    feed.credentialAdded();
    return session;
  }

  /** Removes a session that is no longer handed out. */
  forget(session: Session): void {
    this.#wallets.get(session.userPk)?.sessions.delete(session);
  }

  /** Closes idle wallets without watches until at most `most` are open. */
  closeIdle(most: number): void {
    for (const [walletId, { feed, resolver, approvals, sessions }] of this.#wallets) {
      if (this.#wallets.size <= most) break;
      if (feed.busy || resolver.busy || sessions.size > 0) continue;
      feed.stop();
      resolver.stop();
      approvals.stop();
      this.#wallets.delete(walletId);
    }
  }

  /** How many wallets are open, and the states of their open feeds. */
  figures(): { wallets: number; feeds: readonly FeedStanding[] } {
    const standings = [...this.#wallets.values()].map(({ feed }) => feed.standing);
    return {
      wallets: this.#wallets.size,
      feeds: standings.filter((standing) => standing !== null),
    };
  }

  /** Ends payments that have waited too long for approval. */
  async sweepApprovals(): Promise<void> {
    await Promise.allSettled([...this.#wallets.values()].map(({ approvals }) => approvals.sweep()));
  }

  /** Closes the feeds that were last used some minutes ago. */
  closeUnusedFeeds(): void {
    for (const { feed } of this.#wallets.values()) feed.closeUnused();
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const { feed, resolver, approvals } of this.#wallets.values()) {
      feed.stop();
      resolver.stop();
      approvals.stop();
    }
  }
}
