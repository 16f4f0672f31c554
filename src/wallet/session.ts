import type { KeyedLock } from '../lib/keyed-lock.ts';
import { ApiError } from '../model/errors.ts';
import { effectivePermissions, type Permission } from '../model/permissions.ts';
import type { NodeSession, WalletNode } from '../nodes/node.ts';
import type { Store, Watch } from '../store/ports.ts';
import type { Feed } from './feed.ts';
import type { History } from './history.ts';

/** A wallet as one credential reaches it: what every operation works with. */
export interface Session extends NodeSession {
  readonly store: Store;
  readonly feed: Feed;
  readonly history: History;
  /** Shared by all sessions of the wallet. */
  readonly locks: KeyedLock;
  /** Keeps the credential, so that watching resumes after a restart. */
  readonly remember: () => Promise<void>;
}

/** The optional groups of the node port. */
type NodeGroup = {
  [Name in keyof WalletNode]-?: undefined extends WalletNode[Name] ? Name : never;
}[keyof WalletNode];

/** A group of the node port, or error 110 naming the node (decisions section 9). */
export function nodeGroup<Name extends NodeGroup>(
  session: NodeSession,
  name: Name,
): NonNullable<WalletNode[Name]> {
  const group = session.node[name];
  if (group) return group;
  const { kind } = session.node.descriptor;
  throw new ApiError('unsupported', `This wallet's node (${kind}) has no ${name}.`, {
    data: { node: kind },
  });
}

/** Whether the session may use a permission now. */
export function allows(session: NodeSession, permission: Permission): boolean {
  const client = session.client();
  return (
    client === null || effectivePermissions(client.scopes, client.permissions).includes(permission)
  );
}

/** Throws error 108, naming the permission, unless the session may use it now. */
export function requirePermission(session: NodeSession, permission: Permission): void {
  if (allows(session, permission)) return;
  throw new ApiError(
    'forbidden',
    `These credentials lack the permission ${permission}: ask the wallet's owner to grant a scope that holds it.`,
    { data: { permission } },
  );
}

/**
 * Watches what was issued or is about to be sent, so that its end is delivered also after a restart (decisions
 * section 11).
 */
export async function watch(session: Session, what: Watch): Promise<void> {
  await prepareWatch(session);
  await session.store.watches.add(session.userPk, what);
  session.feed.watchAdded();
}

/** What must be durable before the first watch of a wallet is. */
export async function prepareWatch(session: Session): Promise<void> {
  await Promise.all([session.remember(), session.feed.prepare(session)]);
}
