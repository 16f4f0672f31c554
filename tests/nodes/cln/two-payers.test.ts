import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { payment } from '../../../src/nodes/cln/follow/look-up.ts';
import { sendOutcome } from '../../../src/nodes/cln/follow/outcome.ts';
import { payInvoice } from '../../../src/nodes/cln/lightning/payments.ts';
import type { SendReport } from '../../../src/nodes/node.ts';
import { questionOf } from '../../contracts/node/steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { bolt11Of, FakeCln, NODE_SECS, refusal } from './fake-cln.ts';
import { begunPayment, feedNow, listing, orderFor, toldBy } from './fake-sends.ts';
import { type FakeWallet, fakeWallet, LABELS, rpcOf } from './fake-wallet.ts';
import { FakeXpay, PAID_HASH, PREIMAGE } from './fake-xpay.ts';

/**
 * Another program, such as lightning-cli, pays the invoice that the sidecar pays. Every order of what both do must end
 * with one payment that is told as completed, and none that stays pending.
 */

setDefaultTimeout(SLOW_TEST_MS);

const HASH = PAID_HASH;
const INDEX = paymentIndex(NODE_SECS * 1000 + 123, paymentId('ln', HASH));
/** The index under which the feed tells of the other program's attempt: the node gives whole seconds. */
const OTHER = paymentIndex((NODE_SECS + 5) * 1000, paymentId('ln', HASH));
const BOLT11 = bolt11Of(HASH, 1000n);
const TERMS = { payment_hash: HASH, bolt11: BOLT11 };

/** The row that the wallet has of its payment while it is under way. */
const OURS: Payment = begunPayment(NODE_SECS * 1000 + 123, HASH);

let cln: FakeCln;
let wallet: FakeWallet;
let xpay: FakeXpay;
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
  xpay = new FakeXpay(cln);
});
afterEach(() => cln.stop());

function pay(isRepeat = false): Promise<SendReport> {
  const rpc = rpcOf(cln);
  const createdAtMs = NODE_SECS * 1000 + 123;
  return payInvoice(
    { rpc, owner: rpc, wallet },
    orderFor(wallet, BOLT11, { createdAtMs, isRepeat }),
  );
}

const outcome = () => sendOutcome({ owner: rpcOf(cln), wallet }, questionOf(OURS));

/** What a feed that opens now tells of the payments of the hash: each index with its last status. */
const told = async (unfinished: readonly Payment[] = []) =>
  toldBy(await feedNow(cln, wallet, unfinished));

/** What the sidecar does, and what the other program does, each in its order. */
const OWN_STEPS = ['list', 'ours', 'answer'] as const;
const OTHER_STEPS = ['other begins', 'other ends'] as const;
type Step = (typeof OWN_STEPS)[number] | (typeof OTHER_STEPS)[number];

/** Every order of two sequences. */
function merges<T>(a: readonly T[], b: readonly T[]): T[][] {
  const [a1, ...as] = a;
  const [b1, ...bs] = b;
  if (a1 === undefined) return [[...b]];
  if (b1 === undefined) return [[...a]];
  return [
    ...merges(as, b).map((rest) => [a1, ...rest]),
    ...merges(a, bs).map((rest) => [b1, ...rest]),
  ];
}

/** Lets everything happen in that order. The feed looks after that step. */
async function run(order: readonly Step[], otherIsPaid: boolean, feedAfter: Step) {
  const mayPay = Promise.withResolvers<void>();
  const mayAnswer = Promise.withResolvers<void>();
  let own: Record<string, unknown> | Response | null = null;
  let other: Record<string, unknown> | Response | null = null;
  let report: Promise<SendReport> | null = null;
  cln.on('listpeerchannels', () => mayPay.promise.then(() => listing()));
  cln.on('xpay', ({ label }) => {
    const begun = xpay.begin({ ...TERMS, label: String(label) });
    own = begun;
    return mayAnswer.promise.then(() => {
      if (begun instanceof Response) return begun;
      xpay.end(begun, true);
      return xpay.paid(begun);
    });
  });
  const listed = cln.of('listsendpays');
  for (const step of order) {
    switch (step) {
      case 'list':
        report = pay();
        await until(() => cln.of('listsendpays').length > listed.length, 'it has listed');
        await until(() => cln.of('listpeerchannels').length > 0, 'it has asked for channels');
        break;
      case 'ours':
        mayPay.resolve();
        // Where an attempt is in the way already, no call is made.
        await Promise.race([until(() => own !== null, 'xpay was called'), report]);
        break;
      case 'answer':
        mayAnswer.resolve();
        await report;
        break;
      case 'other begins':
        other = xpay.begin(TERMS);
        break;
      case 'other ends':
        if (other && !(other instanceof Response)) xpay.end(other, otherIsPaid);
        break;
    }
    if (step === feedAfter) await told([OURS]);
  }
  const madeOwn = own !== null && !((own as unknown) instanceof Response);
  return { report: await report, madeOwn, wasAsked: own !== null };
}

describe('another program pays the same invoice', () => {
  for (const order of merges<Step>(OWN_STEPS, OTHER_STEPS)) {
    for (const otherIsPaid of [true, false]) {
      for (const feedAfter of order) {
        const name = `${order.join(', ')}; the other ${otherIsPaid ? 'is paid' : 'fails'}; the feed looks after "${feedAfter}"`;
        test(name, async () => {
          const { report, madeOwn, wasAsked } = await run(order, otherIsPaid, feedAfter);
          const rows = await told();
          // Whose attempt it is decides the report, and the feed and the report name it alike.
          if (madeOwn) {
            // On a busy machine it is told while it is still pending.
            expect(report).toMatchObject({ state: 'known', payment: { index: INDEX } });
            expect(rows).toEqual({
              ...(order.indexOf('other begins') < order.indexOf('ours')
                ? { [OTHER]: 'failed' }
                : {}),
              [INDEX]: 'completed',
            });
            expect(await outcome()).toMatchObject({
              state: 'known',
              payment: { index: INDEX, status: 'completed' },
            });
          } else {
            // What was in the way before the call is told as it was listed then.
            const toldAt = order.indexOf(wasAsked ? 'answer' : 'list');
            const isOver = otherIsPaid && order.indexOf('other ends') < toldAt;
            expect(report).toMatchObject({
              state: 'taken',
              payment: { index: OTHER, status: isOver ? 'completed' : 'pending' },
            });
            expect(rows).toEqual({ [OTHER]: otherIsPaid ? 'completed' : 'pending' });
            expect(await outcome()).toMatchObject(
              otherIsPaid
                ? { state: 'taken', payment: { index: OTHER, status: 'completed' } }
                : { state: 'unknown' },
            );
          }
        });
      }
    }
  }
});

describe('whose attempt it was is read from the list', () => {
  beforeEach(() => cln.on('listpeerchannels', () => listing()));

  test('where xpay answers with an earlier payment of the hash', async () => {
    cln.on('xpay', () => {
      const other = xpay.begin(TERMS);
      if (other instanceof Response) throw new Error('the other is first');
      xpay.end(other, true);
      // The form in which xpay tells of an earlier payment where it stands for `pay` (payment_listsendpays_previous).
      const earlier = { status: 'complete', payment_hash: HASH, parts: 1, created_at: NODE_SECS };
      const paid = { payment_preimage: PREIMAGE, amount_msat: 1000, amount_sent_msat: 1001 };
      return Response.json({ ...paid, ...earlier }, { status: 201 });
    });
    expect(await pay()).toMatchObject({
      state: 'taken',
      payment: { index: OTHER, status: 'completed' },
    });
  });

  test('and is not asked for where the answer tells of a part of this call', async () => {
    cln.on('xpay', ({ label }) => {
      const own = xpay.begin({ ...TERMS, label: String(label) });
      if (own instanceof Response) return own;
      xpay.end(own, true);
      return xpay.paid(own);
    });
    expect(await pay()).toMatchObject({ state: 'known', payment: { index: INDEX } });
    expect(cln.of('listsendpays')).toHaveLength(1);
  });

  test('and while the call may go on at the node, only a paid one answers the request', async () => {
    let other: Record<string, unknown> | Response | null = null;
    cln.on('xpay', () => {
      other = xpay.begin(TERMS);
      return new Response('<html>Gateway Timeout</html>', { status: 504 });
    });
    expect(await pay()).toMatchObject({ state: 'unknown' });
    expect(await outcome()).toEqual({ state: 'unknown' });
    xpay.end(other ?? {}, true);
    expect(await outcome()).toMatchObject({ state: 'taken', payment: { index: OTHER } });
  });

  test('and a refusal of xpay stays one beside attempts of others that have failed', async () => {
    const other = xpay.begin(TERMS);
    if (!(other instanceof Response)) xpay.end(other, false);
    cln.on('xpay', () => refusal(205, 'Failed: We could not find a usable set of paths.'));
    expect(await pay()).toMatchObject({ state: 'refused' });
  });

  test('and a refusal of xpay, which made no attempt, is answered by the one of others that is pending', async () => {
    cln.on('xpay', () => {
      xpay.begin(TERMS);
      return refusal(205, 'Failed: We could not find a usable set of paths.');
    });
    expect(await pay()).toMatchObject({
      state: 'taken',
      payment: { index: OTHER, status: 'pending' },
    });
  });

  test('and our own failed part has failed at once when another attempt has paid', async () => {
    cln.on('xpay', ({ label }) => {
      const own = xpay.begin({ ...TERMS, label: String(label) });
      if (!(own instanceof Response)) xpay.end(own, false);
      const other = xpay.begin({ ...TERMS });
      if (!(other instanceof Response)) xpay.end(other, true);
      return refusal(219, 'Already paid this invoice successfully');
    });
    expect(await pay()).toMatchObject({
      state: 'known',
      payment: { index: INDEX, status: 'failed', statusMsg: 'paid by another attempt' },
    });
  });
});

describe('a request that is sent again', () => {
  beforeEach(() => cln.on('listpeerchannels', () => listing()));
  const own = { ...TERMS, label: LABELS.of(INDEX) };

  /** Two attempts of one label: the first has failed, and the second stands as given. */
  function twoOfOneLabel(second: 'pending' | 'complete', order: 'before' | 'after') {
    const failed = () => {
      cln.addPart({ ...own, groupid: 8, status: 'failed' });
      wallet.endings.gaveUp(HASH, 8, 'no route');
    };
    if (order === 'before') failed();
    cln.addPart({ ...own, groupid: 7, status: second, payment_preimage: PREIMAGE });
    if (order === 'after') failed();
  }
  for (const order of ['before', 'after'] as const) {
    for (const second of ['pending', 'complete'] as const) {
      test(`has not failed while one of its attempts is ${second}, though one ${order} it has failed`, async () => {
        twoOfOneLabel(second, order);
        const status = second === 'complete' ? 'completed' : 'pending';
        expect(await told()).toEqual({ [INDEX]: status });
        expect(await outcome()).toMatchObject({ state: 'known', payment: { status } });
        expect(await pay(true)).toMatchObject({
          state: 'known',
          payment: { index: INDEX, status },
        });
        expect(await payment({ owner: rpcOf(cln), wallet }, INDEX)).toMatchObject({
          payment: { status },
        });
        expect(cln.of('xpay')).toEqual([]);
      });
    }
  }

  test('has failed where its own attempt has, and another one is paid', async () => {
    cln.addPart({ ...own, groupid: 7, status: 'failed' });
    cln.addPart({ ...TERMS, groupid: 8, status: 'complete', payment_preimage: PREIMAGE });
    const failed = { index: INDEX, status: 'failed', statusMsg: 'paid by another attempt' };
    expect(await outcome()).toMatchObject({ state: 'known', payment: failed });
    expect(await pay(true)).toMatchObject({ state: 'known', payment: failed });
    expect(cln.of('xpay')).toEqual([]);
  });

  test('makes no second attempt beside one that has failed, which may go on', async () => {
    cln.addPart({ ...own, status: 'failed' });
    expect(await pay(true)).toMatchObject({ state: 'known', payment: { status: 'pending' } });
    expect(cln.of('xpay')).toEqual([]);
  });

  test('is never refused, since that would say nothing of the first request', async () => {
    cln.on('xpay', () => refusal(205, 'Failed: We could not find a usable set of paths.'));
    expect(await pay()).toMatchObject({ state: 'refused' });
    expect(await pay(true)).toMatchObject({ state: 'unknown' });
    cln.off('listpeerchannels');
    expect(await pay(true)).toMatchObject({ state: 'unknown' });
  });

  test('does not end the attempt of the first request when it fails itself', async () => {
    cln.on('xpay', ({ label }) => {
      cln.addPart({ ...TERMS, label, status: 'failed' });
      return refusal(209, 'Failed after 1 attempts.');
    });
    expect(await pay(true)).toMatchObject({ state: 'known', payment: { status: 'pending' } });
  });

  test('waits while another program pays, because the first request may follow', async () => {
    const other = xpay.begin(TERMS);
    expect(await pay(true)).toMatchObject({
      state: 'unknown',
      error: {
        message: 'Another payment of this invoice is on its way: look at the payment again.',
      },
    });
    if (!(other instanceof Response)) xpay.end(other, true);
    expect(await pay(true)).toMatchObject({ state: 'taken', payment: { index: OTHER } });
    expect(cln.of('xpay')).toEqual([]);
  });

  test('is not sent where the node has deleted payments, which may have been this one', async () => {
    cln.sendpays.remove(cln.addPart({ payment_hash: 'ee'.repeat(32) }));
    expect(await pay(true)).toMatchObject({ state: 'unknown' });
    // What is left of the hash says nothing of what was deleted.
    cln.addPart({ ...TERMS, status: 'failed' });
    expect(await pay(true)).toMatchObject({ state: 'unknown' });
    expect(cln.of('xpay')).toEqual([]);
  });

  test('is read anew, and not from what was read a moment ago', async () => {
    wallet.recent.keep(HASH, [], wallet.elapsedMs());
    cln.addPart(own);
    expect(await pay(true)).toMatchObject({ state: 'known', payment: { index: INDEX } });
  });
});
