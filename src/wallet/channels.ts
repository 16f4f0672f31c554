import { hex } from '@scure/base';
import type { Channel } from '../model/channel.ts';
import { isApiError } from '../model/errors.ts';
import { FEE_HEADROOM, requireWithinBudget } from './budget.ts';
import type { EffectNames } from './effect-names.ts';
import { nodeGroup, type Session } from './session.ts';

/** The channels of the wallet's node. */
export function listChannels(session: Session): Promise<Channel[]> {
  return nodeGroup(session, 'channels').listChannels();
}

/**
 * Opens a channel, once for its user channel id. Its on-chain fee counts towards a client's budget and is bounded
 * before anything is signed (decisions section 7). Throws with `data.sent`.
 */
export function openChannel(
  session: Session,
  request: { readonly valueMsat: bigint; readonly userChannelId: string | null },
  names: EffectNames,
): Promise<{ channelId: string; userChannelId: string }> {
  const channels = nodeGroup(session, 'channels');
  const userChannelId = request.userChannelId ?? hex.encode(names.bytes('channel').slice(0, 16));
  const { valueMsat } = request;
  return session.locks.run(`open_${userChannelId}`, async () => {
    const fee = await reserveFee(session, names, 'opening', () =>
      channels.openFeeBoundMsat(valueMsat),
    );
    const opened = await fee.spend((maxFeeMsat) =>
      channels.openChannel({ valueMsat, userChannelId, maxFeeMsat }),
    );
    // A channel that was there before cost nothing now, unless this very request has opened it.
    if (opened.isNew || fee.isRepeat) await fee.settle(opened.feeMsat);
    else await fee.giveBack();
    return opened;
  });
}

/**
 * Closes a channel cooperatively; its fee counts towards a client's budget. A repeat of a request that finds no such
 * channel any more has closed it, at the cost that was told before. Throws with `data.sent`.
 */
export function closeChannel(
  session: Session,
  channelId: string,
  names: EffectNames,
): Promise<void> {
  const channels = nodeGroup(session, 'channels');
  return session.locks.run(`close_${channelId}`, async () => {
    const fee = await reserveFee(session, names, 'closing', () =>
      channels.closeFeeBoundMsat(channelId),
    );
    try {
      const closed = await fee.spend((maxFeeMsat) =>
        channels.closeChannel(channelId, { maxFeeMsat }),
      );
      await fee.settle(closed.feeMsat);
    } catch (error) {
      if (!fee.isRepeat || !isApiError(error, 'notFound')) throw error;
      await fee.settle(null);
    }
  });
}

/** A fee on chain that is held back from the caller's budget. */
interface ReservedFee {
  /** Whether an earlier run of the request has reserved it. */
  readonly isRepeat: boolean;
  /** Asks the node. What it refused is given back; what is not known to have failed stays reserved. */
  spend<T>(act: (maxFeeMsat: bigint | null) => Promise<T>): Promise<T>;
  /** Puts the true fee in its place; null where the node does not tell it. */
  settle(feeMsat: bigint | null): Promise<void>;
  giveBack(): Promise<void>;
}

/** Reserves under a name of this request alone, since another one must not take its place or give it back. */
async function reserveFee(
  session: Session,
  names: EffectNames,
  purpose: 'opening' | 'closing',
  bound: () => Promise<bigint>,
): Promise<ReservedFee> {
  const { store, userPk, guard, node, caller } = session;
  const name = `${purpose}_${caller.id}_${hex.encode(names.bytes(purpose))}`;
  const isRepeat = names.earlier(purpose) !== null;
  const hasBudget = session.hasBudget();
  const settle = async (costMsat: bigint) => {
    if (hasBudget) await store.spends.settle(userPk, name, costMsat);
  };
  const boundMsat = await beforeAsking(async () => {
    await session.resolver.ready();
    if (hasBudget) guard.requireTrusted();
    const kept = await names.kept(purpose, async () => `${hasBudget ? await bound() : 0n}`);
    if (!hasBudget) return 0n;
    const ownMsat = BigInt(kept);
    const amountMsat = ownMsat * FEE_HEADROOM;
    const reservation = { clientPk: caller.id, amountMsat, nowMs: node.clock.now() };
    await store.spends.reserve(userPk, name, reservation, requireWithinBudget);
    try {
      await guard.keepUp();
    } catch (error) {
      if (!isRepeat) await settle(0n);
      throw error;
    }
    return ownMsat;
  });
  return {
    isRepeat,
    async spend(act) {
      try {
        return await act(hasBudget ? boundMsat * FEE_HEADROOM : null);
      } catch (error) {
        if (!isApiError(error)) throw error;
        const sent = wasRefused(error) ? 'no' : 'unknown';
        // What an earlier run of the request has done is not undone by this one's refusal.
        if (sent === 'no' && !isRepeat) {
          await settle(0n);
          await names.forget();
        }
        throw error.with({ sent });
      }
    },
    settle: (feeMsat) => settle(feeMsat ?? boundMsat),
    giveBack: () => settle(0n),
  };
}

async function beforeAsking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isApiError(error) ? error.with({ sent: 'no' }) : error;
  }
}

function wasRefused(error: unknown): boolean {
  // After a storage error it may have happened.
  return (
    isApiError(error) && !error.outcomeUnknown && !isApiError(error, 'internal', 'overCapacity')
  );
}
