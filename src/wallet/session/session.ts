import type { KeyedLock } from '../../lib/keyed-lock.ts';
import type { Log } from '../../lib/log.ts';
import type { Client, ClientRecord } from '../../model/clients/client.ts';
import { isGranted, type Permission } from '../../model/clients/permissions.ts';
import { ApiError } from '../../model/errors.ts';
import type { NodeInfo } from '../../model/node-info.ts';
import type { ConfiguredGrant, WalletNode } from '../../nodes/node.ts';
import type { BudgetRules, Store, Watch } from '../../store/ports.ts';
import type { LiveClients } from './live-clients.ts';
import type { History, PaymentFeed, SpendResolver, StoreGuard, WaitingApprovals } from './ports.ts';
import { requireFit } from './unfit.ts';

/** The caller: one client of a wallet, or its owner. Idempotency-Keys belong to callers (docs/decisions.md 50). */
export interface Caller {
  /** Hex public key of the client, or `owner`. */
  readonly id: string;
  /** 32 bytes that only the caller's own credential gives; they encrypt outcomes that hold a secret. */
  readonly sealKey: Uint8Array;
}

/** A wallet as one credential reaches it. Every operation works on a session. */
export interface Session {
  /** The wallet's identity: a hex ed25519 public key. */
  readonly userPk: string;
  readonly caller: Caller;
  /** Whether the caller is the wallet's owner: the root seed, or the node's own credentials in the configuration. */
  readonly isOwner: boolean;
  /** The client in its present state; null for the root seed, and for a configured token that allows everything. */
  readonly client: () => Client | null;
  /** The id of the node's token with which the client's calls are made now; null for the owner. */
  readonly tokenId: () => string | null;
  /** What the configured token of the session allows; null where it has none that is restricted. */
  readonly configured: ConfiguredGrant | null;
  /** Whether the caller is a client with a budget now. */
  readonly hasBudget: () => boolean;
  /** Calls `listener` when the client's grant changes. Returns a function that removes the listener. */
  readonly onGrantChange: (listener: () => void) => () => void;
  /** Aborts when the credential is revoked or expires. Its reason is the error to throw. */
  readonly ended: AbortSignal;
  readonly node: WalletNode;
  readonly store: Store;
  readonly log: Log;
  readonly feed: PaymentFeed;
  readonly history: History;
  readonly resolver: SpendResolver;
  readonly guard: StoreGuard;
  readonly budgetRules: BudgetRules;
  readonly approvals: WaitingApprovals;
  /** The node as the token of a client of the wallet reaches it. */
  readonly nodeOf: (client: ClientRecord) => Promise<WalletNode>;
  readonly liveClients: LiveClients;
  /** Tells health what the node answered that cannot be so, see `requireFit`. */
  readonly unfit: (problem: string) => void;
  /** Locks that all sessions of the wallet share. */
  readonly locks: KeyedLock;
}

/** The node of a session. */
export type OnNode = Pick<Session, 'node'>;
/** The rows of a session's wallet. */
export type WalletRows = Pick<Session, 'userPk' | 'store'>;
/** What the caller may do now. */
export type Grants = Pick<Session, 'client' | 'configured'>;
/** The payments of a session's wallet. */
export type WithHistory = Pick<Session, 'history'>;
/** Who sees payments of the wallet, all of them or only its own (docs/decisions.md 195). */
export type Viewer = WalletRows & Pick<Session, 'client' | 'caller'>;
/** Who reads payments of the wallet. */
export type Reader = OnNode & Viewer & WithHistory;
/** Who asks, where only some callers may see a payment. */
export type Onlooker = WalletRows & Grants & Pick<Session, 'caller' | 'isOwner'>;
/** The payments of a session's wallet, and what ends a wait for one. */
export type Waiter = OnNode & Viewer & WithHistory & Pick<Session, 'feed' | 'ended'>;
/** Who spends on chain, with what a budget allows. */
export type Spender = OnNode &
  WalletRows &
  Pick<Session, 'caller' | 'client' | 'hasBudget' | 'budgetRules' | 'guard' | 'resolver' | 'locks'>;
/** Who pays, and waits for the end while that is granted. */
export type Payer = Spender &
  Onlooker &
  Waiter &
  Pick<Session, 'log' | 'onGrantChange' | 'approvals'>;
/** Who approves payments of others. */
export type Approver = Payer & Pick<Session, 'nodeOf'>;
/** Who looks after the clients of a wallet. */
export type Keeper = OnNode &
  WalletRows &
  Pick<
    Session,
    'caller' | 'isOwner' | 'configured' | 'guard' | 'approvals' | 'locks' | 'liveClients' | 'log'
  >;
/** The parts of a session that also serve what no client asks for, such as an invoice for a payer of a name. */
export type ServedWallet = OnNode &
  WalletRows &
  Pick<Session, 'feed' | 'log' | 'unfit'> &
  Partial<Pick<Session, 'caller' | 'client'>>;

type NodeGroup = {
  [Name in keyof WalletNode]-?: undefined extends WalletNode[Name] ? Name : never;
}[keyof WalletNode];

/** Names of groups in messages, where they differ from the name in the port. */
const GROUP_WORDS: Partial<Record<NodeGroup, string>> = {
  tokens: 'clients',
  spontaneous: 'spontaneous payments',
  holdInvoices: 'hold invoices',
};

/** Returns a group of the node port. Throws error 110, which names the node, without it (docs/decisions.md 76). */
export function nodeGroup<Name extends NodeGroup>(
  session: OnNode,
  name: Name,
): NonNullable<WalletNode[Name]> {
  const group = session.node[name];
  if (group) return group;
  const { kind } = session.node.descriptor;
  throw new ApiError(
    'unsupported',
    `This wallet's node (${kind}) has no ${GROUP_WORDS[name] ?? name}.`,
    { data: { node: kind } },
  );
}

/** Returns the node's identity and balances. Throws `unreadable` (error 5) when it claims another node's key. */
export async function nodeInfo(wallet: ServedWallet): Promise<NodeInfo> {
  const info = await wallet.node.info();
  const isOwn = info.nodePk === wallet.node.descriptor.nodePk;
  requireFit(wallet, isOwn ? null : 'claims another node key than that of the wallet');
  return info;
}

/**
 * Returns whether the session may use a permission now. What a configured token lacks is looked for in its file, which
 * may hold another one by now.
 */
export function allows(session: Grants, permission: Permission): boolean {
  const client = session.client();
  if (client === null || isGranted(permission, client)) return true;
  return session.configured?.reread().permissions.includes(permission) ?? false;
}

/** Throws error 108, naming the permission, unless the session may use it now. */
export function requirePermission(session: Grants, permission: Permission): void {
  if (!allows(session, permission)) throw lacking(session, permission);
}

/** Returns the error 108 for a missing permission. The owner of a configured token is told what the token lacks. */
export function lacking(
  { configured }: Pick<Session, 'configured'>,
  permission: Permission,
): ApiError {
  const message =
    configured?.now().lacks(permission) ??
    `These credentials lack the permission ${permission}: ask the wallet's owner to grant a scope that holds it, or the permission itself.`;
  return new ApiError('forbidden', message, { data: { permission } });
}

/** Throws error 108 unless the session is the wallet owner's. */
export function requireOwner({ isOwner }: Pick<Session, 'isOwner'>): void {
  if (isOwner) return;
  throw new ApiError(
    'forbidden',
    "Only the wallet's owner may do this: call with the root seed, the node's own credentials or the cookie.",
    { data: { permission: 'owner' } },
  );
}

/** What a payment of the caller may cost, in millisatoshis, before it waits for approval; null for any cost. */
export function approveAboveMsat({ client }: Pick<Session, 'client'>): bigint | null {
  return client()?.approveAboveMsat ?? null;
}

/** Stores a watch, so that the end is delivered also after a restart (docs/decisions.md 90). */
export async function watch(wallet: ServedWallet, what: Watch): Promise<void> {
  await wallet.feed.prepare(wallet.node);
  await wallet.store.watches.add(wallet.userPk, what);
  wallet.feed.watchAdded();
}
