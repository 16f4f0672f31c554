import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { openLog } from '../../../src/lib/log.ts';
import { awaitingApproval, idOf, isFinal, type Payment } from '../../../src/model/payment.ts';
import { type PaymentIndex, paymentIndex } from '../../../src/model/payment-index.ts';
import type { SendOutcome, SendReport } from '../../../src/nodes/node.ts';
import type { ObservedPayment } from '../../../src/store/ports.ts';
import { openSqliteStore } from '../../../src/store/sqlite/index.ts';
import { budgetRules, periodStart } from '../../../src/wallet/budget/budget.ts';
import { observationRules } from '../../../src/wallet/follow/observe.ts';
import { afterRestart, decide, type Question } from '../../../src/wallet/pay/spend-state.ts';
import { rounds } from '../../support/rounds.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { clientRecord, newSpend } from '../../support/store-steps.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { unreachable } from '../fake-node.ts';

setDefaultTimeout(SLOW_TEST_MS);

const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
const rules = observationRules({
  log,
  // A node may say anything here, as in production.
  deliver: ({ index }, wallet) => ({
    id: `msg_${wallet}_${index}`,
    event: 'payment.finalized',
    body: index,
    createdAtMs: 1,
    endpoints: ['configured'],
  }),
});
const OWN = samplePayment(1);
const OTHER_INDEX = paymentIndex(77, idOf(OWN));
const RESERVED_MSAT = 1010n;

type Status = Payment['status'];
/** What a node may say of the payment: of the spend's own attempt or another one, of its amount or another. */
interface Shown {
  readonly word: 'known' | 'taken';
  readonly status: Status;
  readonly isOther: boolean;
  readonly isOfAmount: boolean;
}
type Said = Shown | { readonly word: 'refused' | 'silent' | 'never' };
type Step =
  | { readonly step: 'answer' | 'look' | 'late look' | 'repeat'; readonly said: Said }
  | { readonly step: 'feed'; readonly said: Shown }
  | { readonly step: 'restart'; readonly said: Said }
  | { readonly step: 'approve' };

const status = fc.constantFrom<Status>('pending', 'completed', 'failed');
const shown = fc.record<Shown>({
  word: fc.constantFrom('known', 'taken'),
  status,
  isOther: fc.boolean(),
  isOfAmount: fc.boolean(),
});
const said = fc.oneof(
  shown,
  fc.record({ word: fc.constantFrom('refused' as const, 'silent' as const, 'never' as const) }),
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ step: fc.constant('answer' as const), said }),
  fc.record({
    step: fc.constantFrom('look' as const, 'late look' as const, 'repeat' as const),
    said,
  }),
  fc.record({ step: fc.constant('feed' as const), said: shown }),
  fc.record({ step: fc.constant('restart' as const), said }),
  fc.record({ step: fc.constant('approve' as const) }),
);

const store = openSqliteStore(':memory:');
afterAll(() => store.close());
let runs = 0;

const QUESTIONS = { look: 'look', 'late look': 'late_look', repeat: 'repeat' } as const;

/** Runs the steps on one spend over a real store, and checks after each what must always hold. */
async function run(
  { isNumbered, keepsHistory, isSigned, isWaiting }: Record<string, boolean>,
  steps: readonly Step[],
): Promise<void> {
  // Each run has a wallet and a client of its own, since opening a store takes long.
  const wallet = String(++runs).padStart(64, '0');
  const node = keepsHistory ? { history: {} as never } : {};
  const journaled = !keepsHistory;
  /** Counts the observations, by which an attempt has its time. */
  let nowMs = 1000;
  let newestUpdate = 0;
  const deliveries = new Map<string, number>();
  const ends = new Map<PaymentIndex, Payment>();
  /** Whether the spend is over without an end: given up, or given way. */
  let isUndone = false;
  let isAnswered = false;

  const seen = ({ status, isOther, isOfAmount }: Shown) => {
    const make = { pending: samplePayment, completed: sampleDone, failed: sampleFailed }[status];
    const index = isOther ? { index: OTHER_INDEX, createdAtMs: 77 } : {};
    const payment = make(1, { ...index, amountMsat: isOfAmount ? OWN.amountMsat : 9999n });
    return { payment, attempt: isNumbered ? (isOther ? 6 : 5) : null };
  };
  const reportOf = (one: Said): SendReport => {
    if (one.word === 'known' || one.word === 'taken') return { state: one.word, ...seen(one) };
    return { state: one.word === 'refused' ? 'refused' : 'unknown', error: unreachable() };
  };
  const outcomeOf = (one: Said): SendOutcome => {
    if (one.word === 'known' || one.word === 'taken') return { state: one.word, ...seen(one) };
    return one.word === 'never' ? { state: 'never', reason: 'not sent' } : { state: 'unknown' };
  };

  const observe = async (observation: ObservedPayment) => {
    const batch = { observations: [observation], cursor: null, journaled, nowMs };
    const { changed, gaveWay } = await store.observations.apply(wallet, batch, rules);
    for (const payment of changed) {
      const end = ends.get(payment.index);
      if (journaled) {
        expect(payment.updatedAtMs).toBeGreaterThan(newestUpdate);
        newestUpdate = payment.updatedAtMs;
        // What is final stays as it is. A node that keeps the history itself answers for that.
        if (end) expect(payment.status).toBe(end.status);
      }
      if (isFinal(payment) && !end) ends.set(payment.index, payment);
    }
    if (gaveWay.length > 0) isUndone = true;
  };
  const spendOf = () => store.spends.get(wallet, OWN.index);

  /** Carries out what the table says, as send and the look-ups do. */
  const hear = async (question: Question, what: SendReport | SendOutcome) => {
    const spend = await spendOf();
    if (!spend) return;
    const { fate, observation } = decide(spend, what, { question, nowMs });
    if (fate === 'give_up') {
      const isOwnRefusal =
        what.state === 'refused' && (question === 'request' || question === 'publish');
      const wasNeverTold = what.state === 'never' && question === 'untold_look';
      expect(spend.state === 'begun' || isOwnRefusal || wasNeverTold).toBe(true);
      expect(spend.state).not.toBe('known');
      await store.spends.abandon(wallet, OWN.index, periodStart);
      isUndone = true;
    }
    if (fate === 'fail') expect(what.state).toBe('never');
    if (fate === 'send_again') expect(spend.state).toBe('asked');
    const isFirst = newestUpdate === 0;
    if (observation) await observe(observation);
    if (fate === 'fail' || fate === 'give_way') expect(await spendOf()).toBeNull();
    // Later another row may have the attempt.
    const isOwn = fate === 'record' && isFirst && observation?.payment.index === OWN.index;
    if (fate === 'give_way' || isOwn) expect(isUndone).toBe(fate === 'give_way');
  };

  const isAwaiting = async () => (await spendOf())?.state === 'awaiting';
  const restart = async (one: Said) => {
    const row = await spendOf();
    if (row?.state === 'awaiting') return expect(afterRestart(row, node)).toBe('await approval');
    isAnswered = true;
    if (row === null) return;
    if (row.state === 'asked' && journaled) {
      const told = await store.journal.show(wallet, OWN.index);
      if (told) newestUpdate = told.updatedAtMs;
    }
    const next = afterRestart(row, node);
    expect(next === 'give_up').toBe(row.state === 'begun');
    if (next === 'give_up') {
      await store.spends.abandon(wallet, OWN.index, periodStart);
      isUndone = true;
    }
    if (next === 'leave to the feed') expect(row.state).toBe('known');
    if (next === 'ask') await hear(keepsHistory ? 'untold_look' : 'look', outcomeOf(one));
  };

  const check = async () => {
    const spend = await spendOf();
    const end = ends.get(OWN.index);
    for (const { id } of await store.outbox.claim({
      endpoint: 'configured',
      nowMs: 1e12,
      leaseUntilMs: 2e12,
      lastPossibleMs: 3e12,
      limit: 100,
    })) {
      deliveries.set(id, (deliveries.get(id) ?? 0) + 1);
    }
    expect([...deliveries.values()].filter((count) => count !== 1)).toEqual([]);
    const { spentMsat } = await store.budgets.get(wallet, wallet, 1, periodStart);
    if (spend) {
      // While its end is not known it counts, and has no end.
      expect([spentMsat, end, isUndone]).toEqual([RESERVED_MSAT, undefined, false]);
      return;
    }
    if (isUndone) {
      expect(spentMsat).toBe(0n);
      return;
    }
    // It is over: by an end, which was delivered once.
    expect(end).toBeDefined();
    expect(deliveries.get(`msg_${wallet}_${OWN.index}`)).toBe(1);
    expect(spentMsat > 0n).toBe(end?.status === 'completed');
    if (journaled) {
      expect(await store.journal.get(wallet, OWN.index)).toMatchObject({ status: end?.status });
    }
  };

  const reservation = { clientPk: wallet, amountMsat: RESERVED_MSAT, nowMs: 1 };
  const change = { journaled, caller: wallet, reservation, afterAttempt: isNumbered ? 3 : null };
  const state = isWaiting ? 'awaiting' : isSigned ? 'begun' : 'asked';
  const budget = { amountMsat: 100_000n, period: 'total', maxPaymentMsat: null } as const;
  await store.clients.change(wallet, () => ({
    records: [clientRecord({ walletId: wallet, clientPk: wallet, budgetState: 'set' })],
    budgets: [{ clientPk: wallet, budget, periodStart }],
  }));
  const first = isWaiting ? awaitingApproval(OWN) : OWN;
  const more = { state, approveUntilMs: isWaiting ? 1e9 : null } as const;
  await store.spends.begin(wallet, newSpend(first, { ...change, ...more }), budgetRules);
  await check();
  // A signed one leaves the state `begun` when the first answer is there, unless a restart comes first.
  for (const one of steps) {
    nowMs += 10;
    switch (one.step) {
      case 'answer':
        if (isAnswered || (await isAwaiting())) break;
        isAnswered = true;
        if (isSigned && !isWaiting)
          await store.spends.asked(wallet, OWN.index, { plan: '{}', journaled });
        await hear(isSigned ? 'publish' : 'request', reportOf(one.said));
        break;
      case 'feed':
        // Of a spend that was only begun a node has nothing to tell.
        // Of one that waits it can only tell another program's.
        if (await isAwaiting()) {
          await observe(seen({ ...one.said, isOther: true }));
          expect(await isAwaiting()).toBe(true);
        } else if ((await spendOf())?.state !== 'begun') await observe(seen(one.said));
        break;
      case 'approve':
        {
          const mayMove = await isAwaiting();
          const approved = { plan: '{}', afterAttempt: isNumbered ? 3 : null, journaled, nowMs };
          const isMoved = await store.spends.approve(wallet, OWN.index, approved, () => true);
          expect(isMoved).toBe(mayMove);
        }
        break;
      case 'restart':
        await restart(one.said);
        break;
      case 'repeat':
        if (isAnswered) await hear('repeat', reportOf(one.said));
        break;
      default:
        if (isAnswered) await hear(QUESTIONS[one.step], outcomeOf(one.said));
    }
    await check();
  }
}

/** A refusal of the request after the feed has told of an attempt, which was therefore another program's. */
const REFUSED_AFTER_SHOWN: [Record<string, boolean>, Step[]] = [
  { isNumbered: true, keepsHistory: false, isSigned: false },
  [
    {
      step: 'feed',
      said: { word: 'known', status: 'pending', isOther: false, isOfAmount: true },
    },
    { step: 'answer', said: { word: 'refused' } },
  ],
];

test('whatever a node says in whatever order, an end is one and stays, and what was asked for is not given up', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        isNumbered: fc.boolean(),
        keepsHistory: fc.boolean(),
        isSigned: fc.boolean(),
        isWaiting: fc.boolean(),
      }),
      fc.array(anyStep, { maxLength: 12 }),
      run,
    ),
    { numRuns: rounds(60, 300), examples: [REFUSED_AFTER_SHOWN] },
  );
});
