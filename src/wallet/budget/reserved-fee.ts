import { hex } from '@scure/base';
import { formatAmountMsat } from '../../model/amount.ts';
import { type ApiError, internalUnlessApi, isApiError } from '../../model/errors.ts';
import { type EffectNames, type Fee, sentBefore } from '../session/effect-names.ts';
import { approveAboveMsat, type Spender } from '../session/session.ts';
import { tellingSent } from '../session/telling-sent.ts';
import { FEE_HEADROOM, periodStart } from './budget.ts';
import { leftToOwner } from './left-to-owner.ts';

/** What the node has done, and the fee that it cost, in millisatoshis; null where the node does not tell it. */
interface Done {
  readonly isNew: boolean;
  readonly feeMsat: bigint | null;
}

interface FeeTerms {
  /** Null where there is no budget. */
  readonly maxFeeMsat: bigint | null;
  /** Whether an earlier run of the same request reserved the fee, and so may have asked for the act. */
  readonly isRepeat: boolean;
}

/**
 * Calls `act`, which asks the node for what costs an on-chain fee. The fee is reserved before, under a name that only
 * this request has, so that no other request replaces it or gives it back. When the node refuses, it is given back;
 * when the outcome is not known, it stays reserved. Then the true fee takes its place, or the estimate where the node
 * does not tell it. What the node had done before costs nothing, unless an earlier run of the same request asked for
 * it. Errors carry `data.sent`.
 */
export async function withReservedFee<T extends Done>(
  session: Spender,
  names: EffectNames,
  purpose: Fee,
  bound: () => Promise<bigint>,
  act: (terms: FeeTerms) => Promise<T>,
): Promise<T> {
  const { store, userPk, guard, node, caller } = session;
  const name = `${purpose}_${caller.id}_${hex.encode(names.bytes(purpose))}`;
  const before = sentBefore(names, purpose);
  const isRepeat = before === 'unknown';
  const hasBudget = session.hasBudget();
  const aboveMsat = approveAboveMsat(session);
  const isBounded = hasBudget || aboveMsat !== null;
  const settle = async (costMsat: bigint) => {
    if (hasBudget) await store.spends.settle(userPk, name, costMsat, periodStart);
  };
  const boundMsat = await tellingSent(before, async () => {
    await session.resolver.ready();
    if (hasBudget) guard.requireTrusted();
    const kept = await names.kept(purpose, async () => `${isBounded ? await bound() : 0n}`);
    if (!isBounded) return 0n;
    const ownMsat = BigInt(kept);
    const amountMsat = ownMsat * FEE_HEADROOM;
    // An earlier run may have asked for the act when it was allowed.
    if (aboveMsat !== null && amountMsat > aboveMsat && !isRepeat) {
      const cost = formatAmountMsat(amountMsat);
      throw leftToOwner(
        aboveMsat,
        (above) =>
          `This may cost up to ${cost} sats in fees, and with these credentials what costs more than ${above} sats`,
      );
    }
    if (!hasBudget) return ownMsat;
    const reservation = { clientPk: caller.id, amountMsat, nowMs: node.clock.now() };
    await store.spends.reserve(userPk, name, reservation, session.budgetRules);
    try {
      await guard.requireKept();
    } catch (error) {
      if (!isRepeat) await settle(0n);
      throw error;
    }
    return ownMsat;
  });
  const asked = async () =>
    act({ maxFeeMsat: isBounded ? boundMsat * FEE_HEADROOM : null, isRepeat });
  const done = await asked().catch(async (thrown) => {
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
  });
  const costMsat = done.isNew || isRepeat ? (done.feeMsat ?? boundMsat) : 0n;
  await tellingSent('unknown', () => settle(costMsat));
  return done;
}

function wasRefused(error: ApiError): boolean {
  // After a storage error the node may have done it.
  return !error.outcomeUnknown && !isApiError(error, 'internal', 'overCapacity');
}
