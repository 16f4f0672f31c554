import { expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { ApiError } from '../../../src/model/errors.ts';
import { isFinal, type Payment } from '../../../src/model/payment.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { createClient } from '../../../src/wallet/clients/clients.ts';
import { planInvoicePayment } from '../../../src/wallet/pay/invoice.ts';
import { sendAndWait } from '../../../src/wallet/pay/send.ts';
import { randomNames } from '../../../src/wallet/session/effect-names.ts';
import { rounds } from '../../support/rounds.ts';
import { WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { clientRequest } from '../client-world.ts';
import { walletWorld } from '../wallet-world.ts';
import { FEE_MSAT, INVOICE, ModelNode } from './model-node.ts';
import { contextOf } from './plan.ts';
import { turns } from './send-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** What may happen next. Those that do not apply are left out. */
const STEPS = [
  'go on',
  'lose',
  'outside pays',
  'outside pays another amount',
  'feed tells',
  'succeed',
  'fail',
  'restart',
  'time passes',
] as const;
type Step = (typeof STEPS)[number];

const OWN_MSAT = 1000n;
const FEES = { ppm: 0, leastMsat: 100n };

type Ended = { readonly payment: Payment } | { readonly error: unknown };

/** One client pays an invoice while another program of the node may pay it too. Returns what is left in the end. */
async function run(kind: 'numbered' | 'labeled', steps: readonly Step[], last: 'succeed' | 'fail') {
  const model = new ModelNode(kind);
  const world = await walletWorld();
  const { fake } = world;
  fake.newestAttempt = () => model.newestAttempt() as Promise<number>;
  fake.sendOutcome = (question) => model.outcome(question);
  fake.latestPayment = () => model.latest();
  Object.assign(fake.node, {
    payInvoice: model.pay.bind(model),
    repeatsSafely: true,
  });
  world.pause = async (_ms, signal) => {
    if (!signal?.aborted) await turns(1);
  };
  let { wallets, owner } = await world.start();
  const request = clientRequest(['send', 'read_payments'], {
    budget: { amountMsat: 100_000n, period: 'total', maxPaymentMsat: null },
  });
  const { client, credentials } = await createClient(owner, request, randomNames);
  let ended: Ended | null = null;
  /** Counts the processes: what an ended one still learns is told to nobody. */
  let life = 0;
  const killed: ModelNode['held'] = [];
  const pay = async () => {
    const session = await wallets.open(credentials);
    const plan = planInvoicePayment(
      {
        invoice: INVOICE,
        amountMsat: OWN_MSAT,
        maxFeeMsat: 100n,
        personalNote: null,
        externalId: null,
        message: null,
      },
      session,
      FEES,
    );
    return sendAndWait(contextOf(session), plan);
  };
  const begin = () => {
    ended = null;
    const now = life;
    pay().then(
      (payment) => {
        if (now === life) ended = { payment };
      },
      (error: unknown) => {
        if (now === life) ended = { error };
      },
    );
  };
  const tell = () => fake.push(...model.attempts.map((one) => model.seen(one)));
  const end = (how: 'succeed' | 'fail') => {
    if (model.open) model.open.status = how === 'succeed' ? 'completed' : 'failed';
  };
  const settle = () => turns(20);
  const take = async (step: Step) => {
    model.nowMs += 10;
    fake.nowMs = model.nowMs;
    switch (step) {
      case 'go on':
        return model.held[0]?.go('on');
      case 'lose':
        return model.held.find((one) => one.step !== 'newest')?.go('lost');
      case 'outside pays':
        return void model.begin(null, OWN_MSAT);
      case 'outside pays another amount':
        return void model.begin(null, 5000n);
      case 'feed tells':
        return tell();
      case 'succeed':
      case 'fail':
        return end(step);
      case 'restart': {
        world.kill();
        life++;
        ended = null;
        killed.push(...model.killed());
        ({ wallets, owner } = await world.start());
        return;
      }
      case 'time passes':
        world.elapsedMs += 20_000;
    }
  };
  begin();
  await settle();
  let restarted = false;
  for (const step of steps) {
    await take(step);
    restarted ||= step === 'restart';
    await settle();
  }
  // From here on the node is quick, and everything that can end does.
  const done = until(
    async () => {
      for (const one of [...model.held]) one.go('on');
      end(last);
      world.elapsedMs += 20_000;
      await owner.resolver.ready();
      tell();
      if (restarted && ended === null) {
        restarted = false;
        begin();
      }
      return (
        ended !== null && !restarted && (await world.store.spends.unfinished(WALLET)).length === 0
      );
    },
    `everything ended (${kind}: ${steps.join(', ')}, ${last})`,
    20_000,
  );
  await done;
  tell();
  await settle();
  const rows = await world.store.journal.updatedAfter(WALLET, null, 100);
  const { spentMsat } = await world.store.budgets.get(WALLET, client.clientPk, 1, periodStart);
  const watched = await world.store.watches.has(WALLET);
  for (const one of [...model.held, ...killed]) one.go('lost');
  await world.close();
  return { model, rows, spentMsat, watched, ended: ended as unknown as Ended };
}

for (const kind of ['numbered', 'labeled'] as const) {
  test(`two payers of one invoice leave one true row each, in whatever order they act (${kind})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...STEPS), { maxLength: 14 }),
        fc.constantFrom('succeed' as const, 'fail' as const),
        async (steps, last) => {
          const { model, rows, spentMsat, watched, ended } = await run(kind, steps, last);
          const { paid } = model;
          expect(rows.filter((row) => !isFinal(row))).toEqual([]);
          expect(rows.filter(({ status }) => status === 'completed')).toHaveLength(paid ? 1 : 0);
          expect(watched).toBe(false);
          const isOurs = paid !== undefined && paid.label !== null;
          const cost = isOurs ? OWN_MSAT + FEE_MSAT : 0n;
          const isCertain = kind === 'labeled' || !model.isUnclear;
          if (isCertain || isOurs || paid?.amountMsat !== OWN_MSAT) expect(spentMsat).toBe(cost);
          else expect([0n, OWN_MSAT + FEE_MSAT]).toContain(spentMsat);
          if ('error' in ended) {
            expect(ended.error).toBeInstanceOf(ApiError);
            expect((ended.error as ApiError).kind).toBe('refused');
            // Another program paid another amount, or was doing so.
            expect(model.attempts.some(({ amountMsat }) => amountMsat === 5000n)).toBe(true);
            return;
          }
          const { payment } = ended;
          if (payment.status === 'completed') {
            expect(paid?.amountMsat).toBe(OWN_MSAT);
            expect(payment.amountMsat).toBe(OWN_MSAT);
          } else if (isCertain) {
            // It failed, so an attempt of its own did.
            const own = model.attempts.filter(({ label }) => label !== null);
            expect(own.some(({ status }) => status === 'failed')).toBe(true);
            expect(own.some(({ status }) => status === 'completed')).toBe(false);
          }
        },
      ),
      { numRuns: rounds(20, 60) },
    );
  });
}
