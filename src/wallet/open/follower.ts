import { isActive } from '../../model/clients/client.ts';
import type { Follower } from '../follow/feed-options.ts';
import type { Session } from '../session/session.ts';
import type { OpenWalletsOptions } from './open-wallets.ts';
import type { SessionOpeners } from './session-openers.ts';

/** What {@link findFollower} looks through. */
interface FollowerParts extends Pick<OpenWalletsOptions, 'store' | 'clock'> {
  readonly openers: SessionOpeners;
}

/**
 * Returns the credential by which a wallet is followed: the owner's configured one, else an open session, else an
 * active client's. When the owner's node cannot be reached, it may be another wallet's, so the others are tried as
 * well.
 */
export async function findFollower(
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
