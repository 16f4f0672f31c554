import { expect } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import type { ChannelJson } from '../../src/model/channel.ts';
import type { BudgetJson } from '../../src/model/clients/budget.ts';
import type { PaymentJson } from '../../src/model/payment.ts';
import { rejection } from '../support/rejection.ts';
import { CallFailed } from '../support/requests.ts';
import { costOf, type Spender, type Trial } from './trial.ts';
import { eventually } from './truth.ts';

const REFUSED = 106;

/** One request of an operation, which may be repeated. */
export interface Run<T = unknown> {
  /** True when the request ends a payment, and so causes a webhook. */
  readonly isNoticed?: boolean;
  /** Sends the request, with the same Idempotency-Key each time. */
  readonly request: () => Promise<T>;
  /** Checks, after a repeat was answered, that the effect exists once and that the answer describes it. */
  readonly check: (answer: T) => Promise<void>;
}

/** An operation that moves money, or changes who may move it. */
export interface Operation {
  readonly name: string;
  /** Prepares a request with that Idempotency-Key. */
  readonly begin: (trial: Trial, key: string) => Promise<Run>;
}

function operation<T>(
  name: string,
  begin: (trial: Trial, key: string) => Promise<Run<T>>,
): Operation {
  // A run checks only its own answer, so the cast is safe.
  return { name, begin: async (trial, key) => asRun(await begin(trial, key)) };
}

function asRun<T>(run: Run<T>): Run {
  return { ...run, check: (answer) => run.check(answer as T) };
}

/** A payment by a client with a budget. It must be final, be the same in GET, and count in the budget with its fees. */
function paying(
  name: string,
  path: string,
  prepare: (trial: Trial) => Promise<Record<string, string>>,
): Operation {
  return operation<PaymentJson>(name, async (trial, key) => {
    const spender = await trial.spender(key);
    const body = await prepare(trial);
    return {
      isNoticed: path !== '/v2/node/pay_onchain',
      request: () => trial.post(path, body, { as: spender.credentials, key }),
      check: async (answer) => {
        if (answer.rail === 'onchain') await trial.post('/sandbox/blocks', { count: 6 });
        const now = await over(trial, answer.index);
        expect(now.status).toBe('completed');
        if (answer.rail === 'onchain') expect(now.txid).toBe(answer.txid);
        else expect(now).toEqual(answer);
        await trial.expectSpent(spender, costOf(now));
      },
    };
  });
}

/** Waits until the payment is final, since moving the clock or mining a block may only begin that, and returns it. */
async function over(trial: Trial, index: string): Promise<PaymentJson> {
  const query = { index, timeout_secs: '60' };
  await trial.get('/v2/node/wait_for_payment', query);
  return trial.payment(index);
}

const PAY_INVOICE = paying('pay_invoice', '/v2/node/pay_invoice', async (trial) => {
  const { invoice } = await trial.post<{ invoice: string }>('/sandbox/invoice', { amount: '7' });
  return { invoice };
});

const PAY_FAILING = operation<PaymentJson>('pay_invoice that fails', async (trial, key) => {
  const spender = await trial.spender(key);
  const body = { amount: '7', behavior: 'fail' };
  const { invoice } = await trial.post<{ invoice: string }>('/sandbox/invoice', body);
  return {
    isNoticed: true,
    request: () =>
      trial.post('/v2/node/pay_invoice', { invoice }, { as: spender.credentials, key }),
    check: async (answer) => {
      expect(answer.status).toBe('failed');
      expect(await over(trial, answer.index)).toEqual(answer);
      await trial.expectSpent(spender, 0n);
    },
  };
});

/** Has a client ask for a payment that waits for approval. Returns what asks again. */
async function waiting(trial: Trial, key: string) {
  const spender = await trial.spender(key, { approve_above: '0' });
  const { invoice } = await trial.post<{ invoice: string }>('/sandbox/invoice', { amount: '7' });
  const who = { as: spender.credentials, key, isPatient: false };
  const ask = () => trial.post<PaymentJson>('/v2/node/pay_invoice', { invoice }, who);
  return { spender, ask };
}

/** A payment that waits for approval. It waits once, and is not sent. */
const PAY_WAITING = operation<string>('pay_invoice that waits', async (trial, key) => {
  const { spender, ask } = await waiting(trial, key);
  return {
    request: async () => (await ask()).index,
    check: async (index) => {
      expect(await trial.payment(index)).toMatchObject({ status_msg: 'awaiting approval' });
      // Where the node's history could not be written, a later look at what waits writes it.
      await eventually(async () => (await listedAwaiting(trial)).includes(index));
      expect(await listedAwaiting(trial)).toEqual([index]);
      await trial.post('/v2/node/reject', { index });
      expect(await over(trial, index)).toMatchObject({ status_msg: 'not approved' });
      await trial.expectSpent(spender, 0n);
    },
  };
});

/** The indexes of the payments that the list shows as waiting for approval, after a sync. */
async function listedAwaiting(trial: Trial): Promise<string[]> {
  await trial.send('PUT', '/v2/node/sync_payments', {});
  const query = { filter: 'awaiting' };
  const { payments } = await trial.get<{ payments: PaymentJson[] }>(
    '/v2/node/list_payments',
    query,
  );
  return payments.map(({ index }) => index);
}

/** A decision on a payment that waits. It is made once, whatever its end, which the budget follows. */
function deciding(what: 'approve' | 'reject', ends: readonly string[]): Operation {
  return operation<PaymentJson>(what, async (trial, key) => {
    const { spender, ask } = await waiting(trial, key);
    const { index } = await ask();
    return {
      isNoticed: true,
      request: async () => {
        await trial.post(`/v2/node/${what}`, { index }, { key });
        return over(trial, index);
      },
      check: async (answer) => {
        expect(ends).toContain(answer.status_msg);
        await trial.expectSpent(spender, answer.status === 'completed' ? costOf(answer) : 0n);
      },
    };
  });
}

/** A payment that the node refuses. It leaves nothing behind and may be tried again. */
const PAY_REFUSED = operation<number>('pay_invoice that is refused', async (trial, key) => {
  const spender = await trial.spender(key);
  // The amount is more than the wallet has.
  const body = { amount: '500000000' };
  const { invoice } = await trial.post<{ invoice: string }>('/sandbox/invoice', body);
  return {
    request: async () => {
      const paid = trial.post(
        '/v2/node/pay_invoice',
        { invoice },
        { as: spender.credentials, key },
      );
      const error = await paid.catch((reason) => reason);
      if (error instanceof CallFailed && error.body.code === REFUSED) return error.body.code;
      throw error;
    },
    check: async (code) => {
      expect(code).toBe(REFUSED);
      await trial.expectSpent(spender, 0n);
    },
  };
});

const PAY_SPONTANEOUS = paying('pay_spontaneous', '/v2/node/pay_spontaneous', async (trial) => {
  const { invoice } = await trial.post<{ invoice: string }>('/sandbox/invoice', { amount: '7' });
  return { node_pk: decodeBolt11(invoice).payeePubkey, amount: '7', message: 'thank you' };
});

const PAY_OFFER = paying('pay_offer', '/v2/node/pay_offer', async (trial) => {
  const { offer } = await trial.post<{ offer: string }>('/sandbox/offer', {});
  return { offer, amount: '7' };
});

const PAY_ONCHAIN = paying('pay_onchain', '/v2/node/pay_onchain', async (trial) => {
  // The coins of a transaction that was signed and then not stored are locked for ten minutes.
  await trial.post('/sandbox/clock', { advance_secs: 601 });
  const { address } = await trial.post<{ address: string }>(
    '/v2/node/get_next_unused_address',
    {},
    { as: trial.other },
  );
  return { address, amount: '2000' };
});

const PAY_LNURL = paying('pay_lnurl', '/v2/node/pay_lnurl', async (trial) => ({
  lnurl: await lnurl(trial, 'payRequest'),
  amount: '7',
}));

async function lnurl(trial: Trial, tag: string): Promise<string> {
  const body = { tag, min_amount: '1', max_amount: '1000' };
  return (await trial.post<{ lnurl: string }>('/sandbox/lnurl', body)).lnurl;
}

const WITHDRAW = operation<PaymentJson>('withdraw_lnurl', async (trial, key) => {
  const body = { lnurl: await lnurl(trial, 'withdrawRequest'), amount: '9' };
  const before = await trial.balanceMsat();
  return {
    isNoticed: true,
    request: () => trial.post('/v2/node/withdraw_lnurl', body, { key }),
    check: async (answer) => {
      const now = await over(trial, answer.index);
      expect(now.status).toBe('completed');
      expect(now).toEqual(answer);
      expect((await trial.balanceMsat()) - before).toBe(costOf({ ...now, fees: '0' }));
    },
  };
});

/**
 * An operation that creates an invoice. The invoice must exist once, and its payment by the outside world must be
 * delivered.
 */
function invoicing(name: string, path: string, body: Record<string, string>): Operation {
  return operation<{ index: string; invoice?: string; redirect_url?: string }>(
    name,
    async (trial, key) => ({
      request: () => trial.post(path, body, { key }),
      check: async (answer) => {
        const { invoice } = await trial.payment(answer.index);
        const payable = answer.redirect_url ?? invoice;
        await trial.post('/sandbox/pay', { payable });
        const now = await over(trial, answer.index);
        expect(now.status).toBe('completed');
        if (answer.invoice !== undefined) expect(answer.invoice).toBe(invoice ?? '');
        expect(answer.redirect_url ?? invoice ?? '').toContain(invoice ?? '-');
      },
    }),
  );
}

/** Somebody pays an invoice of the trial wallet. One that was paid already is refused, which is as good. */
async function outsiderPays(trial: Trial, invoice: string): Promise<void> {
  try {
    await trial.post('/sandbox/pay', { payable: invoice });
  } catch (error) {
    if (!(error instanceof CallFailed) || error.body.code !== REFUSED) throw error;
  }
}

/** A payment that arrives while the process dies. Its payer tries again, as payers do. */
const INBOUND = operation('an inbound payment', async (trial) => {
  const { invoice, index } = await trial.post<{ invoice: string; index: string }>(
    '/v2/node/create_invoice',
    { amount: '11' },
  );
  const before = await trial.balanceMsat();
  return {
    isNoticed: true,
    request: () => outsiderPays(trial, invoice),
    check: async () => {
      expect((await over(trial, index)).status).toBe('completed');
      expect((await trial.balanceMsat()) - before).toBe(11_000n);
    },
  };
});

/** A hold invoice of the trial wallet that is not paid, and its secret. */
async function holdInvoice(trial: Trial) {
  const preimage = randomBytes(32);
  const payment_hash = createHash('sha256').update(preimage).digest('hex');
  const made = await trial.post<{ index: string; invoice: string }>('/v2/node/create_invoice', {
    amount: '4',
    payment_hash,
  });
  return { ...made, preimage: preimage.toString('hex') };
}

/** A {@link holdInvoice} whose payment the wallet holds. */
async function heldInvoice(trial: Trial) {
  const made = await holdInvoice(trial);
  await trial.post('/sandbox/pay', { payable: made.invoice });
  await expectHeld(trial, made.index);
  return made;
}

async function expectHeld(trial: Trial, index: string): Promise<void> {
  expect(await trial.payment(index)).toMatchObject({ status: 'pending', status_msg: 'held' });
  trial.held.add(index);
  // A payment that ends before the feed has read it as held has no webhook for that.
  await eventually(() => trial.receiver.heldIds(index).size > 0);
}

const HELD = operation('an inbound payment that is held', async (trial) => {
  const { index, invoice, preimage } = await holdInvoice(trial);
  return {
    isNoticed: true,
    request: () => outsiderPays(trial, invoice),
    check: async () => {
      await expectHeld(trial, index);
      await trial.post('/v2/node/settle_invoice', { index, preimage });
      expect(await over(trial, index)).toMatchObject({ status: 'completed', preimage });
    },
  };
});

const SETTLE = operation('settle_invoice', async (trial, key) => {
  const { index, preimage } = await heldInvoice(trial);
  return {
    isNoticed: true,
    request: () => trial.post('/v2/node/settle_invoice', { index, preimage }, { key }),
    check: async () => {
      expect(await over(trial, index)).toMatchObject({ status: 'completed', preimage });
    },
  };
});

const CANCEL_HELD = operation('cancel_payment of what is held', async (trial, key) => {
  const { index } = await heldInvoice(trial);
  return {
    isNoticed: true,
    request: () => trial.post('/v2/node/cancel_payment', { index }, { key }),
    check: async () => {
      expect(await over(trial, index)).toMatchObject({ status: 'failed', status_msg: 'canceled' });
    },
  };
});

const CREATE_HOLD = operation<{ index: string; invoice: string }>(
  'create_invoice with payment_hash',
  async (trial, key) => {
    const payment_hash = createHash('sha256').update(key).digest('hex');
    const body = { amount: '4', payment_hash };
    return {
      request: () => trial.post('/v2/node/create_invoice', body, { key }),
      check: async ({ index, invoice }) => {
        expect(await trial.payment(index)).toMatchObject({ status: 'pending', invoice });
        const again = trial.post('/v2/node/create_invoice', body);
        expect(await rejection(again)).toMatchObject({ body: { code: REFUSED } });
      },
    };
  },
);

const CANCEL = operation('cancel_payment', async (trial, key) => {
  const { index } = await trial.post<{ index: string }>('/v2/node/create_invoice', { amount: '3' });
  return {
    isNoticed: true,
    request: () => trial.post('/v2/node/cancel_payment', { index }, { key }),
    check: async () => {
      expect(await over(trial, index)).toMatchObject({ status: 'failed', status_msg: 'canceled' });
    },
  };
});

interface NewClient {
  readonly client_pk: string;
  readonly client_credentials: string;
}

interface ClientInfo {
  readonly label: string | null;
  readonly budget: BudgetJson | null;
}

async function clients(trial: Trial): Promise<Record<string, ClientInfo>> {
  return (await trial.get<{ clients: Record<string, ClientInfo> }>('/v2/node/list_clients'))
    .clients;
}

async function labelled(trial: Trial, label: string): Promise<string[]> {
  return Object.entries(await clients(trial))
    .filter(([, client]) => client.label === label)
    .map(([clientPk]) => clientPk);
}

function newClient(trial: Trial, label: string, key?: string): Promise<NewClient> {
  const budget = { amount: '1000', period: 'total' };
  return trial.post(
    '/v2/node/create_client',
    { label, scopes: ['send'], budget },
    key === undefined ? {} : { key },
  );
}

async function revoke(trial: Trial, clientPk: string): Promise<void> {
  await trial.post('/v2/node/revoke_client', { client_pk: clientPk });
}

const CREATE_CLIENT = operation<NewClient>('create_client', async (trial, key) => ({
  request: () => newClient(trial, key, key),
  check: async (answer) => {
    expect(await labelled(trial, key)).toEqual([answer.client_pk]);
    const info = await trial.get('/v2/node/client_info', {}, answer.client_credentials);
    expect(info).toMatchObject({ client_pk: answer.client_pk, budget: { spent: '0' } });
    await revoke(trial, answer.client_pk);
  },
}));

const UPDATE_CLIENT = operation<{ client: ClientInfo }>('update_client', async (trial, key) => {
  const made = await newClient(trial, key);
  const change = {
    client_pk: made.client_pk,
    label: `${key} new`,
    scopes: ['send', 'read_info'],
    budget: { amount: '500', period: 'total' },
  };
  return {
    request: () => trial.send('PUT', '/v2/node/update_client', change),
    check: async ({ client }) => {
      expect((await clients(trial))[made.client_pk]).toEqual(client);
      expect(client).toMatchObject({ label: `${key} new`, budget: { amount: '500' } });
      await trial.get('/v2/node/node_info', {}, made.client_credentials);
      await revoke(trial, made.client_pk);
    },
  };
});

const REVOKE_CLIENT = operation<{ client: ClientInfo }>('revoke_client', async (trial, key) => {
  const made = await newClient(trial, key);
  return {
    request: () => trial.post('/v2/node/revoke_client', { client_pk: made.client_pk }, { key }),
    check: async ({ client }) => {
      expect(client.label).toBe(key);
      expect(await labelled(trial, key)).toEqual([]);
      const used = trial.get('/v2/node/client_info', {}, made.client_credentials);
      expect(await rejection(used)).toMatchObject({ body: { code: 104 } });
    },
  };
});

const CHANNEL_SATS = '20000';

interface OpenedChannel {
  readonly channel_id: string;
  readonly user_channel_id: string;
}

async function channelIds(trial: Trial): Promise<string[]> {
  return (await trial.get<{ channels: ChannelJson[] }>('/v2/node/list_channels')).channels.map(
    ({ channel_id }) => channel_id,
  );
}

/** Checks that the budget counts the fee of a channel, which is what the wallet's balance lost. */
async function expectFeeCounted(trial: Trial, spender: Spender, beforeMsat: bigint) {
  await trial.expectSpent(spender, beforeMsat - (await trial.balanceMsat()));
}

const OPEN_CHANNEL = operation<OpenedChannel>('open_channel', async (trial, key) => {
  const spender = await trial.spender(key);
  const before = await trial.balanceMsat();
  const channels = new Set(await channelIds(trial));
  return {
    request: () =>
      trial.post(
        '/v2/node/open_channel',
        { value: CHANNEL_SATS },
        { as: spender.credentials, key },
      ),
    check: async (answer) => {
      const added = (await channelIds(trial)).filter((id) => !channels.has(id));
      expect(added).toEqual([answer.channel_id]);
      await expectFeeCounted(trial, spender, before);
      await trial.post('/sandbox/blocks', { count: 1 });
    },
  };
});

const CLOSE_CHANNEL = operation('close_channel', async (trial, key) => {
  const spender = await trial.spender(key);
  const { channel_id } = await trial.post<OpenedChannel>('/v2/node/open_channel', {
    value: CHANNEL_SATS,
  });
  await trial.post('/sandbox/blocks', { count: 1 });
  const before = await trial.balanceMsat();
  return {
    request: () =>
      trial.post('/v2/node/close_channel', { channel_id }, { as: spender.credentials, key }),
    check: async () => {
      expect(await channelIds(trial)).not.toContain(channel_id);
      await expectFeeCounted(trial, spender, before);
    },
  };
});

/** A proof of payment that a paywall takes. Its request hears so again, and no other does. */
const VERIFY_PAYWALL = operation<{ valid: boolean; index: string }>(
  'verify_paywall',
  async (trial, key) => {
    const paywall = await trial.post<{
      index: string;
      invoice: string;
      challenges: { l402: string[] };
    }>('/v2/node/create_paywall', { amount: '4', description: key });
    await trial.post('/sandbox/pay', { payable: paywall.invoice });
    const { preimage } = await trial.payment(paywall.index);
    const [, token] = /token="(.+?)"/.exec(paywall.challenges.l402[0] ?? '') ?? [];
    const body = { headers: { authorization: `L402 ${token}:${preimage}` } };
    return {
      request: () => trial.post('/v2/node/verify_paywall', body, { key }),
      check: async ({ valid, index }) => {
        expect([valid, index]).toEqual([true, paywall.index]);
        const other = await trial.post('/v2/node/verify_paywall', body);
        expect(other).toMatchObject({ valid: false });
      },
    };
  },
);

/** Sends all of a received payment back. It takes its amount once, and nothing where it fails. */
function refunding(behavior: 'settle' | 'fail'): Operation {
  const name = `pay_invoice that refunds and is to ${behavior}`;
  return operation<PaymentJson>(name, async (trial, key) => {
    const spender = await trial.spender(key);
    const sold = await trial.post<{ index: string; invoice: string }>('/v2/node/create_invoice', {
      amount: '7',
    });
    await outsiderPays(trial, sold.invoice);
    expect((await over(trial, sold.index)).refunded).toBeNull();
    const { invoice } = await trial.post<{ invoice: string }>('/sandbox/invoice', {
      amount: '7',
      behavior,
    });
    const body = { invoice, refund_of: sold.index };
    return {
      isNoticed: true,
      request: () => trial.post('/v2/node/pay_invoice', body, { as: spender.credentials, key }),
      check: async (answer) => {
        expect(await over(trial, answer.index)).toEqual(answer);
        expect(answer.refund_of).toBe(sold.index);
        const isPaid = answer.status === 'completed';
        expect(isPaid).toBe(behavior === 'settle');
        expect((await trial.payment(sold.index)).refunded).toBe(isPaid ? '7' : null);
        await trial.expectSpent(spender, isPaid ? costOf(answer) : 0n);
      },
    };
  });
}

/** The operations that must survive a crash at any step (docs/decisions.md 33, 52, 66 and 91). */
export const OPERATIONS: readonly Operation[] = [
  PAY_INVOICE,
  PAY_FAILING,
  PAY_REFUSED,
  PAY_WAITING,
  // The sandbox ends what was approved and then not asked for any more. What it has no room for it refuses.
  deciding('approve', [
    'completed',
    'not sent',
    'The disk of the data directory is full or failing: free space, then try again.',
  ]),
  deciding('reject', ['not approved']),
  refunding('settle'),
  refunding('fail'),
  PAY_SPONTANEOUS,
  PAY_OFFER,
  PAY_ONCHAIN,
  PAY_LNURL,
  WITHDRAW,
  invoicing('create_invoice', '/v2/node/create_invoice', { amount: '5' }),
  invoicing('buy_with_payment_app', '/v2/node/buy_with_payment_app', { amount: '5000' }),
  INBOUND,
  CANCEL,
  CREATE_HOLD,
  HELD,
  SETTLE,
  CANCEL_HELD,
  VERIFY_PAYWALL,
  CREATE_CLIENT,
  UPDATE_CLIENT,
  REVOKE_CLIENT,
  OPEN_CHANNEL,
  CLOSE_CHANNEL,
];
