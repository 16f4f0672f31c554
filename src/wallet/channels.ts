import { hex } from '@scure/base';
import { isApiError } from '../model/errors.ts';
import type { NodeChannels } from '../nodes/node.ts';
import { requireWithinBudget } from './budget.ts';
import type { EffectNames } from './effect-names.ts';
import { nodeGroup, type Session } from './session.ts';

/** How far a fee may rise between its bound and the transaction. */
const FEE_HEADROOM = 2n;

/**
 * Opens a channel, once for its user channel id. Its on-chain fee counts towards a client's budget and is bounded
 * before anything is signed (decisions section 7).
 */
export async function openChannel(
  session: Session,
  request: { readonly valueMsat: bigint; readonly userChannelId: string | null },
  names: EffectNames,
): Promise<{ channelId: string; userChannelId: string }> {
  const channels = nodeGroup(session, 'channels');
  const userChannelId = request.userChannelId ?? hex.encode(names.bytes('channel').slice(0, 16));
  const { valueMsat } = request;
  return withinBudget(
    session,
    `open_${userChannelId}`,
    () => channels.openFeeBoundMsat(valueMsat),
    (maxFeeMsat) => channels.openChannel({ valueMsat, userChannelId, maxFeeMsat }),
  );
}

/**
 * Closes a channel cooperatively; its fee counts towards a client's budget. What it may cost is kept under the
 * request's key before the node is asked: a repeat that finds no such channel any more has closed it, at that cost.
 */
export async function closeChannel(
  session: Session,
  channelId: string,
  names: EffectNames,
): Promise<void> {
  const channels: NodeChannels = nodeGroup(session, 'channels');
  const name = `close_${channelId}`;
  const earlier = names.earlier('closing');
  try {
    const boundMsat = await channels.closeFeeBoundMsat(channelId);
    await names.kept('closing', () => `${boundMsat}`);
    await withinBudget(
      session,
      name,
      async () => boundMsat,
      (maxFeeMsat) => channels.closeChannel(channelId, { maxFeeMsat }),
    );
  } catch (error) {
    if (earlier !== null && isApiError(error, 'notFound')) {
      await session.store.spends.settle(session.userPk, name, BigInt(earlier));
      return;
    }
    // After a storage error it may be closed.
    if (wasRefused(error) && !isApiError(error, 'overCapacity')) await names.forget();
    throw error;
  }
}

/** Reserves the bound, acts, and puts the true fee in its place; what is not known to have failed stays reserved. */
async function withinBudget<T extends { readonly feeMsat: bigint | null }>(
  session: Session,
  name: string,
  bound: () => Promise<bigint>,
  act: (maxFeeMsat: bigint | null) => Promise<T>,
): Promise<T> {
  await session.resolver.ready();
  if (!session.hasBudget()) return act(null);
  const { store, userPk, guard, node } = session;
  guard.requireTrusted();
  const maxFeeMsat = (await bound()) * FEE_HEADROOM;
  const reservation = {
    clientPk: session.caller.id,
    amountMsat: maxFeeMsat,
    nowMs: node.clock.now(),
  };
  await store.spends.reserve(userPk, name, reservation, requireWithinBudget);
  let done: T;
  try {
    await guard.keepUp();
    done = await act(maxFeeMsat);
  } catch (error) {
    if (wasRefused(error)) await store.spends.settle(userPk, name, 0n);
    throw error;
  }
  if (done.feeMsat !== null) await store.spends.settle(userPk, name, done.feeMsat);
  return done;
}

function wasRefused(error: unknown): boolean {
  return isApiError(error) && !error.outcomeUnknown && !isApiError(error, 'internal');
}
