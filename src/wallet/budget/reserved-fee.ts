import { hex } from '@scure/base';
import { type ApiError, internalUnlessApi, isApiError } from '../../model/errors.ts';
import { type EffectNames, type Fee, sentBefore } from '../session/effect-names.ts';
import type { Spender } from '../session/session.ts';
import { tellingSent } from '../session/telling-sent.ts';
import { budgetRules, FEE_HEADROOM, periodStart } from './budget.ts';

/** An on-chain fee that is reserved in the caller's budget. */
export interface ReservedFee {
  /** Whether an earlier run of the same request reserved it. */
  readonly isRepeat: boolean;
  /**
   * Calls `act`, which asks the node, with the bound on the fee; null where there is no budget. When the node refuses,
   * the fee is given back. When the outcome is not known, it stays reserved.
   */
  spend<T>(act: (maxFeeMsat: bigint | null) => Promise<T>): Promise<T>;
  /**
   * Replaces the reservation by the true fee; null, where the node does not tell it, makes the estimate the cost. What
   * the node had done before costs nothing, unless an earlier run of the same request asked for it.
   */
  conclude(done: { readonly isNew: boolean; readonly feeMsat: bigint | null }): Promise<void>;
}

/** Reserves the fee under a name that only this request has, so that no other request replaces it or gives it back. */
export async function reserveFee(
  session: Spender,
  names: EffectNames,
  purpose: Fee,
  bound: () => Promise<bigint>,
): Promise<ReservedFee> {
  const { store, userPk, guard, node, caller } = session;
  const name = `${purpose}_${caller.id}_${hex.encode(names.bytes(purpose))}`;
  const before = sentBefore(names, purpose);
  const isRepeat = before === 'unknown';
  const hasBudget = session.hasBudget();
  const settle = async (costMsat: bigint) => {
    if (hasBudget) await store.spends.settle(userPk, name, costMsat, periodStart);
  };
  const boundMsat = await tellingSent(before, async () => {
    await session.resolver.ready();
    if (hasBudget) guard.requireTrusted();
    const kept = await names.kept(purpose, async () => `${hasBudget ? await bound() : 0n}`);
    if (!hasBudget) return 0n;
    const ownMsat = BigInt(kept);
    const amountMsat = ownMsat * FEE_HEADROOM;
    const reservation = { clientPk: caller.id, amountMsat, nowMs: node.clock.now() };
    await store.spends.reserve(userPk, name, reservation, budgetRules);
    try {
      await guard.requireKept();
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
        const sent = wasRefused(error) ? before : 'unknown';
        // An earlier run may have succeeded, so the refusal of a repeat gives nothing back.
        if (sent === 'no') {
          await tellingSent(sent, async () => {
            await settle(0n);
            await names.forget();
          });
        }
        throw error.with({ sent });
      }
    },
    conclude: ({ isNew, feeMsat }) =>
      tellingSent('unknown', () => settle(isNew || isRepeat ? (feeMsat ?? boundMsat) : 0n)),
  };
}

function wasRefused(error: ApiError): boolean {
  // After a storage error the node may have done it.
  return !error.outcomeUnknown && !isApiError(error, 'internal', 'overCapacity');
}
