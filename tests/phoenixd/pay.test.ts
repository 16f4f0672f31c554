import { describe, expect, test } from 'bun:test';
import type { PaymentJson } from '../../src/model/payment.ts';
import { transactionOf } from '../../src/nwc/transactions.ts';
import { type Call, type Caller, Form, Refusal } from '../../src/phoenixd/caller.ts';
import { received } from '../../src/phoenixd/events.ts';
import { outgoingByHash, payInvoice, payingBy } from '../../src/phoenixd/pay.ts';
import { outgoing, page } from '../../src/phoenixd/payments.ts';
import { throwing } from '../support/rejection.ts';

const NOW_MS = 1_800_000_000_000;
const HASH = 'ab'.repeat(32);
/** From BOLT 11, with the hash 0001..0102 and no amount. */
const INVOICE =
  'lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql';
const INVOICE_HASH = '0001020304050607080900010203040506070809000102030405060708090102';

type Asked = { readonly path: string; readonly body: object; readonly headers: Headers };
const paymentWith = (more: Partial<PaymentJson>): PaymentJson =>
  ({ index: `1-ln_${HASH}`, hash: HASH, amount: '33', fees: '1', ...more }) as PaymentJson;

/** A call of a client for whom `list` are its payments, and whose request to pay is answered so. */
function callWith(
  form: Readonly<Record<string, string>>,
  list: readonly PaymentJson[] | Refusal,
  paid: PaymentJson | Refusal = paymentWith({ status: 'completed', index: 'paid' }),
) {
  const asked: Asked[] = [];
  const read: Caller['read'] = async (_, path, { body = {}, headers = {} } = {}) => {
    if (path === '/v2/node/sync_payments') return {} as never;
    const answer = path === '/v2/node/list_payments' ? list : paid;
    if (answer === paid) asked.push({ path, body, headers: new Headers(headers) });
    if (answer instanceof Refusal) throw answer;
    return (answer === list ? { payments: list, next_index: null } : answer) as never;
  };
  const caller: Caller = { id: 'client', ask: async () => new Response(), read };
  const call: Call = {
    ...{ caller, form: new Form(new URLSearchParams(form)), id: HASH, nowMs: NOW_MS },
    paying: new Set(),
  };
  const key = () => asked.at(-1)?.headers.get('idempotency-key');
  return { call, asked, key };
}

const payName = payingBy('address', /@/);
const NAME = { address: 'a@b.example', amountSat: '33' };

async function keyAfter(list: readonly PaymentJson[], form: object = NAME): Promise<unknown> {
  const { call, key } = callWith(form as never, list);
  await payName(call);
  return key();
}

describe('the key of a payment without a hash', () => {
  const first = paymentWith({ index: 'first', status: 'completed', finalized_at: NOW_MS - 1000 });

  test('is that of the last such payment while it is pending, and for ten minutes after its end', async () => {
    const begun = await keyAfter([]);
    expect(await keyAfter([paymentWith({ status: 'pending', finalized_at: null })])).toBe(begun);
    expect(await keyAfter([first])).toBe(begun);
    const edge = { ...first, finalized_at: NOW_MS - 599_999 };
    expect(await keyAfter([edge])).toBe(begun);
  });

  test('is another one after that, which a repeat finds again', async () => {
    const begun = await keyAfter([]);
    const old = { ...first, finalized_at: NOW_MS - 600_000 };
    const second = await keyAfter([old]);
    expect(second).not.toBe(begun);
    const present = paymentWith({ index: 'second', status: 'completed', finalized_at: NOW_MS });
    expect(await keyAfter([present, old])).toBe(second);
  });

  test('is another one after a failure, at once', async () => {
    const failed = paymentWith({ status: 'failed', finalized_at: NOW_MS });
    expect(await keyAfter([failed])).not.toBe(await keyAfter([]));
  });

  test('is that of the externalId alone, whatever was paid before', async () => {
    const form = { ...NAME, externalId: 'mine' };
    const own = await keyAfter([], form);
    expect(own).not.toBe(await keyAfter([]));
    expect(await keyAfter([{ ...first, finalized_at: 0 }], form)).toBe(own);
    expect(await keyAfter([], { ...form, amountSat: '34' })).toBe(own);
  });
});

describe('an answer', () => {
  const pay = async (paid: PaymentJson | Refusal, list: readonly PaymentJson[] | Refusal = []) => {
    const { call, asked } = callWith({ invoice: INVOICE, amountSat: '33' }, list, paid);
    return { answer: await payInvoice(call), asked, call };
  };

  test('to a payment that has no end after 60 seconds is its id, unpaid', async () => {
    const pending = paymentWith({ status: 'pending', status_msg: 'on its way', index: 'i' });
    const { answer, asked } = await pay(pending);
    expect(asked[0]?.headers.get('prefer')).toBe('wait=58');
    expect(asked[0]?.body).toEqual({ invoice: INVOICE, fallback_amount: '33' });
    expect(answer).toMatchObject({ paymentId: 'i', isPaid: false, status: 'on its way' });
  });

  test('is unpaid, and never failed, for an error after which something may have been sent', async () => {
    const unknown = { paymentHash: INVOICE_HASH, isPaid: false };
    for (const data of [{ sent: 'unknown' }, { sent: 'yes' }, {}]) {
      const { answer } = await pay(new Refusal(503, 'cannot be reached', data, 3));
      expect(answer).toMatchObject({ ...unknown, paymentId: INVOICE_HASH });
    }
    const known = new Refusal(504, 'late', { sent: 'unknown', index: 'i' }, 4);
    expect((await pay(known)).answer).toMatchObject({ ...unknown, paymentId: 'i' });
  });

  test('is the error where nothing was sent, but not while the payment is pending or made', async () => {
    const refused = new Refusal(503, 'cannot be reached', { sent: 'no' }, 3);
    expect(await throwing(pay(refused))).toThrow('cannot be reached');
    const earlier = { hash: INVOICE_HASH, index: 'i' };
    const pending = paymentWith({ ...earlier, status: 'pending', finalized_at: null });
    expect((await pay(refused, [pending])).answer).toMatchObject({ paymentId: 'i', isPaid: false });
    const made = paymentWith({ ...earlier, status: 'completed', finalized_at: 1, preimage: 'p' });
    expect((await pay(refused, [made])).answer).toMatchObject({ paymentPreimage: 'p' });
    const failed = paymentWith({ ...earlier, status: 'failed' });
    expect(await throwing(pay(refused, [failed]))).toThrow('cannot be reached');
  });

  test('does not need the right to list payments, where the invoice says which one it is', async () => {
    const { asked } = await pay(paymentWith({ status: 'completed' }), new Refusal(403, 'no'));
    expect(asked.length).toBe(1);
    expect(await throwing(payName(callWith(NAME, new Refusal(403, 'no')).call))).toThrow('no');
  });
});

test('an invoice that this process is paying is pending before any list has it, and not missing', async () => {
  const { call } = callWith({}, []);
  expect(await outgoingByHash(call)).toBeNull();
  call.paying.add(`client ${HASH}`);
  expect(await outgoingByHash(call)).toMatchObject({ paymentHash: HASH, isPaid: false });
  const ends = callWith({}, []);
  ends.call.paying.add(`client ${HASH}`);
  const looked = outgoingByHash(ends.call);
  ends.call.paying.clear();
  expect(await looked).toMatchObject({ isPaid: false });
  const again = callWith({}, [paymentWith({ status: 'failed', finalized_at: 1 })]);
  expect(await outgoingByHash(again.call)).toMatchObject({ completedAt: 1 });
  again.call.paying.add(`client ${HASH}`);
  expect(
    ((await outgoingByHash(again.call)) as PaymentJson & { completedAt?: 1 }).completedAt,
  ).toBe(undefined);
  const another = callWith({}, []);
  another.call.paying.add(`other ${HASH}`);
  expect(await outgoingByHash(another.call)).toBeNull();
});

test('an invoice stays among those being paid until the application has answered', async () => {
  const { call } = callWith({ invoice: INVOICE, amountSat: '33' }, []);
  const paid = payInvoice(call);
  expect([...call.paying]).toEqual([`client ${INVOICE_HASH}`]);
  await paid;
  expect(call.paying.size).toBe(0);
});

test('what arrived on chain is in no list of incoming payments, and what failed in none of outgoing', async () => {
  const list = [
    paymentWith({ status: 'completed', hash: null, invoice: null, expires_at: null }),
    paymentWith({ status: 'failed', invoice: null, expires_at: null }),
    paymentWith({ status: 'pending', invoice: null, expires_at: null }),
  ];
  const { call } = callWith({}, list);
  expect(await page(call, 'inbound')).toEqual([]);
  expect((await page(call, 'outbound')).length).toBe(2);
});

function streamOf(pieces: readonly string[]): ReadableStream<string> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

test('what was paid by an offer is shown without its BOLT 12 invoice, which clients do not read', async () => {
  const times = { created_at: 1, expires_at: null, finalized_at: 2 };
  const offered = {
    invoice: 'lni1qqx2n6mw2fh2ckwdnwylkgqzypp5jl7hlqnf2ugg7j3slkwwcwht57v',
    ...times,
  };
  const inbound = paymentWith({ direction: 'inbound', status: 'completed', ...offered });
  const { call } = callWith({}, [inbound]);
  const listed = await page(call, 'inbound');
  expect(listed).toMatchObject([{ paymentHash: HASH, invoice: null, requestedSat: undefined }]);
  const sent = paymentWith({ direction: 'outbound', status: 'completed', ...offered });
  expect(outgoing(sent)).toMatchObject({ paymentHash: HASH, invoice: null });
  expect(transactionOf(sent)).toMatchObject({ payment_hash: HASH, invoice: undefined });
});

test('a list goes on over the pages of the application, from the offset', async () => {
  const pages = [['a', 'b'], ['c', 'd', 'e'], ['f']];
  const asked: string[] = [];
  const { call } = callWith({ offset: '1', limit: '3' }, []);
  const read: Caller['read'] = async (_, path, { query } = {}) => {
    if (path === '/v2/node/sync_payments') return {} as never;
    const at = Number(query?.after ?? 0);
    asked.push(`${query?.limit} ${at}`);
    const payments = pages[at]?.map((index) =>
      paymentWith({ index, status: 'completed', invoice: null, expires_at: null }),
    );
    return { payments, next_index: at < 2 ? String(at + 1) : null } as never;
  };
  const list = async (form: string) =>
    (
      await page(
        { ...call, form: new Form(new URLSearchParams(form)), caller: { ...call.caller, read } },
        'outbound',
      )
    )
      .map((one) => (one as { paymentId: string }).paymentId)
      .join('');
  expect(await list('offset=1&limit=3')).toBe('bcd');
  expect(asked).toEqual(['1000 0', '1000 1']);
  expect([await list('offset=4'), await list('limit=2'), await list('offset=9')]).toEqual([
    'ef',
    'ab',
    '',
  ]);
});

test('a stream of events that is cut anywhere tells each payment once', async () => {
  const paid = paymentWith({ status: 'completed', direction: 'inbound', index: 'a' });
  const event = (one: PaymentJson) => `id: u1\nevent: payment\ndata: ${JSON.stringify(one)}\n\n`;
  const all = [': open\n\n', event(paid), event({ ...paid, personal_note: 'x' }), ': alive\n\n']
    .concat(event({ ...paid, index: 'b', direction: 'outbound' }))
    .concat(event({ ...paid, index: 'c', hash: null }), event({ ...paid, index: 'd' }))
    .join('');
  for (const size of [1, 7, 50, all.length]) {
    const pieces = all.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const told: object[] = [];
    for await (const one of received(streamOf(pieces).getReader(), () => 5)) told.push(one);
    const message = { type: 'payment_received', timestamp: 5, amountSat: 33, paymentHash: HASH };
    expect(told).toMatchObject([message, message]);
  }
});
