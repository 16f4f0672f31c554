import { hex } from '@scure/base';
import type { Channel, ChannelPeer } from '../model/channel.ts';
import { type ApiError, internalUnlessApi, isApiError } from '../model/errors.ts';
import { FEE_HEADROOM, requireWithinBudget } from './budget.ts';
import type { EffectNames } from './effect-names.ts';
import { nodeGroup, type Session } from './session.ts';
import { tellingSent } from './telling-sent.ts';

/** The Lightning channels of the wallet's node. */
export function listChannels(session: Session): Promise<Channel[]> {
  return nodeGroup(session, 'channels').listChannels();
}

/**
 * Opens a channel, once for its `user_channel_id` (docs/decisions.md 31). Its on-chain fee counts in a client's budget
 * and is bounded before anything is signed (docs/decisions.md 68). Errors carry `data.sent`.
 */
export function openChannel(
  session: Session,
  request: {
    readonly valueMsat: bigint;
    readonly userChannelId: string | null;
    /** Null: the configured peer, or the node's own choice. */
    readonly peer: ChannelPeer | null;
  },
  names: EffectNames,
): Promise<{ channelId: string; userChannelId: string }> {
  const channels = nodeGroup(session, 'channels');
  const userChannelId = request.userChannelId ?? hex.encode(names.bytes('channel').slice(0, 16));
  const { valueMsat, peer } = request;
  return session.locks.run(`open_${userChannelId}`, async () => {
    const fee = await reserveFee(session, names, 'opening', () =>
      channels.openFeeBoundMsat(valueMsat),
    );
    const opened = await fee.spend((maxFeeMsat) =>
      channels.openChannel({ valueMsat, userChannelId, peer, maxFeeMsat }),
    );
    // An existing channel costs nothing, unless an earlier run of this request opened it.
    if (opened.isNew || fee.isRepeat) await fee.settle(opened.feeMsat);
    else await fee.giveBack();
    return opened;
  });
}

/**
 * Closes a channel, or forces it closed. Its fee counts in a client's budget, and no fee that has no bound is spent by a
 * client that has one. When a repeat of the request finds no such
 * channel, the earlier run has closed it, and the estimated fee counts as the cost. Errors carry `data.sent`.
 */
export function closeChannel(
  session: Session,
  { channelId, forced }: { readonly channelId: string; readonly forced: boolean },
  names: EffectNames,
): Promise<void> {
  const channels = nodeGroup(session, 'channels');
  return session.locks.run(`close_${channelId}`, async () => {
    const fee = await reserveFee(session, names, 'closing', () =>
      channels.closeFeeBoundMsat(channelId, { forced }),
    );
    try {
      const closed = await fee.spend((maxFeeMsat) =>
        channels.closeChannel(channelId, { forced, maxFeeMsat }),
      );
      // A channel that was closed before costs nothing, unless an earlier run of this request closed it.
      if (closed.isNew || fee.isRepeat) await fee.settle(closed.feeMsat);
      else await fee.giveBack();
    } catch (error) {
      if (!fee.isRepeat || !isApiError(error, 'notFound')) throw error;
      await fee.settle(null);
    }
  });
}

/** An on-chain fee that is reserved in the caller's budget. */
interface ReservedFee {
  /** Whether an earlier run of the same request reserved it. */
  readonly isRepeat: boolean;
  /**
   * Calls `act`, which asks the node, with the bound on the fee; null where there is no budget. When the node refuses,
   * the fee is given back. When the outcome is not known, it stays reserved.
   */
  spend<T>(act: (maxFeeMsat: bigint | null) => Promise<T>): Promise<T>;
  /** Replaces the reservation by the true fee; null, where the node does not tell it, makes the estimate the cost. */
  settle(feeMsat: bigint | null): Promise<void>;
  giveBack(): Promise<void>;
}

/** Reserves the fee under a name that only this request has, so that no other request replaces it or gives it back. */
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
  const boundMsat = await tellingSent('no', async () => {
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
      } catch (thrown) {
        const error = internalUnlessApi(thrown);
        const sent = wasRefused(error) ? 'no' : 'unknown';
        // An earlier run may have succeeded, so the refusal of a repeat gives nothing back.
        if (sent === 'no' && !isRepeat) {
          await tellingSent(sent, async () => {
            await settle(0n);
            await names.forget();
          });
        }
        throw error.with({ sent });
      }
    },
    settle: (feeMsat) => tellingSent('unknown', () => settle(feeMsat ?? boundMsat)),
    giveBack: () => tellingSent('unknown', () => settle(0n)),
  };
}

function wasRefused(error: ApiError): boolean {
  // After a storage error the node may have done it.
  return !error.outcomeUnknown && !isApiError(error, 'internal', 'overCapacity');
}
