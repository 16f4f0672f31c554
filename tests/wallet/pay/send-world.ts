import { expect } from 'bun:test';
import type { Budget } from '../../../src/model/clients/budget.ts';
import type { Scope } from '../../../src/model/clients/permissions.ts';
import { ApiError, refused } from '../../../src/model/errors.ts';
import { idOf } from '../../../src/model/payment.ts';
import type { SendReport } from '../../../src/nodes/node.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { type SendContext, send } from '../../../src/wallet/pay/send.ts';
import type { SendPlan, UnfetchedPlan } from '../../../src/wallet/pay/send-plan.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { WALLET } from '../../support/store-steps.ts';
import { clientWorld } from '../client-world.ts';
import { unreachable } from '../fake-node.ts';

/** The report of a node that refuses to send. */
export const refusal = async (): Promise<SendReport> => ({
  state: 'refused',
  error: refused('No route: try another amount.'),
});

/** The report of a node that may have been asked and did not answer. */
export const silence = async (): Promise<SendReport> => ({
  state: 'unknown',
  error: unreachable(),
});

/** Lets the wallet take its next steps. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

export const budgetOf = (amountMsat: bigint): Budget => ({
  amountMsat,
  period: 'total',
  maxPaymentMsat: null,
});

/** The error of a send that must fail. */
export async function errorOf(
  context: SendContext,
  plan: SendPlan | UnfetchedPlan,
  run: (context: SendContext, plan: SendPlan | UnfetchedPlan) => Promise<unknown> = send,
) {
  const error = await run(context, plan).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error('no ApiError was thrown', { cause: error });
  return error;
}

/** Opens a wallet before each test of the file, and closes it afterwards. */
export function sendWorld() {
  const clients = clientWorld();
  const storeOf = () => clients.world.store;
  const claim = (caller = 'owner') =>
    storeOf().idempotency.begin({ walletId: WALLET, caller, key: 'k' }, 'print', 1);
  const unfinished = () => storeOf().spends.unfinished(WALLET);

  /** A new client of the wallet, with its session. */
  async function clientOf(scopes: readonly Scope[], budget: Budget | null = null) {
    const { pk, session } = await clients.make(scopes, { budget });
    return { clientPk: pk, session };
  }

  /**
   * Checks that nothing of the sample payment is left: no spend, watch, journal row, reservation or index at its key.
   */
  async function expectNothingLeft(caller = 'owner'): Promise<void> {
    const store = storeOf();
    expect(await unfinished()).toEqual([]);
    expect(await store.watches.has(WALLET)).toBe(false);
    expect(await store.journal.latest(WALLET, idOf(samplePayment(1)))).toBeNull();
    expect((await store.budgets.get(WALLET, caller, 1, periodStart)).spentMsat).toBe(0n);
    expect(await claim(caller)).toMatchObject({ index: null, effect: null });
  }

  return {
    claim,
    unfinished,
    clientOf,
    expectNothingLeft,
    get world() {
      return clients.world;
    },
    get owner() {
      return clients.owner;
    },
  };
}
