import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { encodeBip321 } from '../../src/codecs/bip321.ts';
import { test } from './node-test.ts';
import { type Body, expectError } from './request.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const pay = (body: object) => world.post('/v2/node/pay', body, world.bob);
const analyze = (payment_string: string, credentials = world.bob) =>
  world.get('/v2/node/analyze', { payment_string }, credentials);
const newest = async () => {
  await world.put('/v2/node/sync_payments');
  return (await world.get('/v2/node/list_payments', { filter: 'all', limit: '1' })).payments[0];
};
/** A payment that may take a moment to arrive. */
const arrived = async (isIt: (payment: Body) => boolean): Promise<Body> => {
  for (let round = 0; round < 400; round++) {
    await world.put('/v2/node/sync_payments');
    const { payments } = await world.get('/v2/node/list_payments', { filter: 'all' });
    const found = payments.find(isIt);
    if (found) return found;
    await Bun.sleep(25);
  }
  throw new Error('the payment did not arrive');
};
const address = async () =>
  (await world.post('/v2/node/get_next_unused_address')).address as string;

describe('offers', () => {
  test('an offer takes many payments; message and offer_id arrive with the receiver', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { description: 'Tips' });
    for (const amount of ['10', '20.5']) {
      const body = { offer, amount, message: 'well done', personal_note: 'private' };
      const sent = await world.post('/v2/node/pay_offer', body, world.bob);
      expect(sent).toMatchObject({
        rail: 'offer',
        kind: 'offer',
        direction: 'outbound',
        status: 'completed',
        amount,
        message: 'well done',
        personal_note: 'private',
      });
      expect(sent.index).toMatch(/-fs_[0-9a-f]{64}$/);
      const received = await newest();
      expect(received).toMatchObject({
        rail: 'offer',
        direction: 'inbound',
        status: 'completed',
        amount,
        message: 'well done',
        personal_note: null,
        offer_id: sent.offer_id,
        hash: sent.hash,
        preimage: sent.preimage,
      });
      expect(received.index).toMatch(/-fr_[0-9a-f]{64}$/);
    }
  });

  test('a minimum is a minimum', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { min_amount: '100' });
    expectError(
      await world.call('POST', '/v2/node/pay_offer', {
        body: { offer, amount: '99' },
        credentials: world.bob,
      }),
      'rejected',
      /at least 100/,
    );
    expect(
      await world.post('/v2/node/pay_offer', { offer, amount: '150' }, world.bob),
    ).toMatchObject({ status: 'completed', amount: '150' });
    const { payables } = await analyze(offer);
    expect(payables).toEqual([
      expect.objectContaining({ kind: 'offer', offer, amount: null, min_amount: '100' }),
    ]);
  });

  test('an expired offer is refused, and expiration_secs shows in analyze', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { expiration_secs: 60 });
    expect((await analyze(offer)).payables[0].expires_at).toBeGreaterThan(Date.now());
    await world.post('/sandbox/clock', { advance_secs: 120 });
    expectError(
      await world.call('POST', '/v2/node/pay_offer', {
        body: { offer, amount: '1' },
        credentials: world.bob,
      }),
      'refused',
      /expired/,
    );
  });

  test('offers of the outside world settle, fail and hold', async () => {
    const of = async (behavior: string) =>
      (await world.post('/sandbox/offer', { behavior, description: behavior })).offer;
    expect(
      await world.post('/v2/node/pay_offer', { offer: await of('settle'), amount: '1000' }),
    ).toMatchObject({ status: 'completed', fees: '2' });
    expect(
      await world.post('/v2/node/pay_offer', { offer: await of('fail'), amount: '1000' }),
    ).toMatchObject({ status: 'failed', fees: '0' });
    const held = await world.call('POST', '/v2/node/pay_offer', {
      body: { offer: await of('hold'), amount: '10' },
      headers: { prefer: 'respond-async' },
    });
    expect(held.status).toBe(202);
    await world.post('/sandbox/holds', { payment_hash: held.body.hash, settle: false });
    expect(await world.get('/v2/node/wait_for_payment', { index: held.body.index })).toMatchObject({
      status: 'failed',
    });
  });

  test('an own offer, another network and garbage are refused', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    expectError(
      await world.call('POST', '/v2/node/pay_offer', { body: { offer, amount: '1' } }),
      'refused',
      /own/,
    );
    const mainnet =
      'lno1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg';
    expectError(
      await world.call('POST', '/v2/node/pay_offer', { body: { offer: mainnet, amount: '1' } }),
      'refused',
      /network/,
    );
    expectError(
      await world.call('POST', '/v2/node/pay_offer', { body: { offer: 'lno1x', amount: '1' } }),
      'rejected',
    );
  });

  test('the outside world pays an offer with payer name and message', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    await world.post('/sandbox/pay', {
      payable: offer,
      amount: '44',
      message: 'hi',
      payer_name: 'alice@example.com',
    });
    expect(await newest()).toMatchObject({
      amount: '44',
      message: 'hi',
      payer_name: 'alice@example.com',
    });
  });
});

describe('payer proofs', () => {
  test('a completed outbound offer payment is proven, with the defaults of the contract', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { description: 'Proof' });
    const { index } = await world.post(
      '/v2/node/pay_offer',
      { offer, amount: '5', message: 'from me' },
      world.bob,
    );
    const { proof } = await world.post(
      '/v2/node/create_payer_proof',
      { index, proof_note: 'challenge' },
      world.bob,
    );
    expect(proof).toStartWith('lnp1');
    expect(await world.post('/v2/node/verify_payer_proof', { proof })).toMatchObject({
      valid: true,
      proof_note: 'challenge',
      invoice_amount: '5',
      offer_description: 'Proof',
      offer_issuer: null,
      invreq_payer_note: 'from me',
    });
    const disclosures = {
      offer_description: false,
      invreq_payer_note: false,
      invoice_amount: false,
      invoice_created_at: false,
    };
    const bare = await world.post('/v2/node/create_payer_proof', { index, disclosures }, world.bob);
    expect(await world.post('/v2/node/verify_payer_proof', { proof: bare.proof })).toMatchObject({
      valid: true,
      invoice_amount: null,
      invoice_created_at: null,
      offer_description: null,
      invreq_payer_note: null,
      proof_note: null,
    });
    for (const type of [0, 240, 7, 100_000]) {
      const body = { index, disclosures: { additional_disclosures: [type] } };
      expectError(
        await world.call('POST', '/v2/node/create_payer_proof', { body, credentials: world.bob }),
        'rejected',
        /cannot be disclosed/,
      );
    }
    const changed = `${proof.slice(0, -8)}${proof.slice(-8) === 'qqqqqqqq' ? 'pppppppp' : 'qqqqqqqq'}`;
    expect(await world.post('/v2/node/verify_payer_proof', { proof: changed })).toMatchObject({
      valid: false,
    });
  });

  test('other payments cannot be proven', async () => {
    const { index } = await world.post('/v2/node/create_invoice', { amount: '1' });
    expectError(
      await world.call('POST', '/v2/node/create_payer_proof', { body: { index } }),
      'refused',
    );
  });
});

describe('on chain', () => {
  test('a send is pending with its transaction, and both sides complete at six confirmations', async () => {
    const to = await address();
    expect(await address()).toBe(to);
    const sent = await world.post(
      '/v2/node/pay_onchain',
      { address: to, amount: '20000', personal_note: 'rent' },
      world.bob,
    );
    expect(sent).toMatchObject({
      rail: 'onchain',
      kind: 'onchain',
      direction: 'outbound',
      status: 'pending',
      status_msg: 'broadcasted',
      hash: null,
      address: to,
      amount: '20000',
      priority: 'normal',
      finalized_at: null,
      personal_note: 'rent',
    });
    expect(sent.index).toMatch(/-os_[0-9a-f]{64}$/);
    expect(sent.tx.output.map(({ value }: Body) => value)).toContain(20000);
    expect(await address()).not.toBe(to);
    const received = await arrived((payment) => payment.txid === sent.txid);
    expect(received).toMatchObject({
      direction: 'inbound',
      status: 'pending',
      amount: '20000',
      address: to,
    });
    expect(received.index).toMatch(/-or_[0-9a-f]{64}$/);
    const info = await world.get('/v2/node/node_info');
    expect(Number(info.onchain_balance) - Number(info.onchain_trusted_balance)).toBe(20000);
    await world.post('/sandbox/blocks', { count: 5 });
    expect((await world.get('/v2/node/payment', { index: sent.index }, world.bob)).status).toBe(
      'pending',
    );
    const waiting = world.get('/v2/node/wait_for_payment', { index: sent.index }, world.bob);
    await world.post('/sandbox/blocks', { count: 1 });
    expect(await waiting).toMatchObject({ status: 'completed', status_msg: 'completed' });
    expect(await world.get('/v2/node/wait_for_payment', { index: received.index })).toMatchObject({
      status: 'completed',
    });
  });

  test('a payment that was replaced fails and names the transaction that won', async () => {
    await world.post('/sandbox/pay', { payable: await address(), amount: '9000' });
    const received = await newest();
    const { txid } = await world.post('/sandbox/replace', { txid: received.txid });
    expect(await world.get('/v2/node/payment', { index: received.index })).toMatchObject({
      status: 'failed',
      replacement: txid,
    });
    expectError(
      await world.call('POST', '/sandbox/replace', { body: { txid: received.txid } }),
      'refused',
    );
  });

  test('higher priority pays a higher fee', async () => {
    const fees: number[] = [];
    for (const priority of ['background', 'normal', 'high']) {
      const sent = await world.post(
        '/v2/node/pay_onchain',
        { address: await address(), amount: '1000', priority },
        world.bob,
      );
      expect(sent.priority).toBe(priority);
      fees.push(Number(sent.fees));
    }
    expect(fees).toEqual(fees.toSorted((a, b) => a - b));
    expect(new Set(fees).size).toBe(3);
  });

  test('the same client_payment_id never sends twice, under concurrency and over a restart', async () => {
    const body = { address: await address(), amount: '3000', client_payment_id: 'ab'.repeat(32) };
    const before = Number((await world.get('/v2/node/node_info', {}, world.bob)).balance);
    const all = await Promise.all(
      Array.from({ length: 8 }, () => world.post('/v2/node/pay_onchain', body, world.bob)),
    );
    await world.restart();
    const later = await world.post('/v2/node/pay_onchain', body, world.bob);
    expect(new Set([...all, later].map(({ txid }) => txid)).size).toBe(1);
    expect(Number((await world.get('/v2/node/node_info', {}, world.bob)).balance)).toBe(
      before - 3000 - Number(later.fees),
    );
    const other = { ...body, amount: '3001' };
    expectError(
      await world.call('POST', '/v2/node/pay_onchain', { body: other, credentials: world.bob }),
      'refused',
      /another/,
    );
  });

  const bad: readonly (readonly [string, object, 'rejected' | 'refused'])[] = [
    ['no address', { address: 'nonsense' }, 'rejected'],
    [
      'an address of another network',
      { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
      'refused',
    ],
    ['decimals of a satoshi', { amount: '1000.5' }, 'rejected'],
    ['dust', { amount: '100' }, 'refused'],
    ['more than the wallet has', { amount: '99999999' }, 'refused'],
    ['an unknown priority', { priority: 'urgent' }, 'rejected'],
    ['a short client_payment_id', { client_payment_id: 'abcd' }, 'rejected'],
  ];
  for (const [what, change, name] of bad) {
    test(`refuses ${what}`, async () => {
      const body = { address: await address(), amount: '1000', ...change };
      expectError(
        await world.call('POST', '/v2/node/pay_onchain', { body, credentials: world.bob }),
        name,
      );
    });
  }
});

describe('channels', () => {
  test('a channel is opened once for its id, usable after a block, and closed into coins', async () => {
    const body = { value: '50000', user_channel_id: 'cd'.repeat(16) };
    const opened = await world.post('/v2/node/open_channel', body);
    expect(await world.post('/v2/node/open_channel', body)).toEqual(opened);
    const find = async () =>
      (await world.get('/v2/node/list_channels')).channels.find(
        ({ channel_id }: Body) => channel_id === opened.channel_id,
      );
    expect(await find()).toMatchObject({
      user_channel_id: body.user_channel_id,
      channel_value: '50000',
      our_balance: '50000',
      their_balance: '0',
      is_usable: false,
    });
    await world.post('/sandbox/blocks', { count: 1 });
    expect(await find()).toMatchObject({
      is_usable: true,
      outbound_capacity: '49500',
      punishment_reserve: '500',
    });
    const before = await world.get('/v2/node/node_info');
    expect(await world.post('/v2/node/close_channel', { channel_id: opened.channel_id })).toEqual(
      {},
    );
    expect(await find()).toBeUndefined();
    const after = await world.get('/v2/node/node_info');
    expect(Number(after.num_channels)).toBe(Number(before.num_channels) - 1);
    expect(Number(after.onchain_balance)).toBeGreaterThan(Number(before.onchain_balance));
    expectError(
      await world.call('POST', '/v2/node/close_channel', {
        body: { channel_id: opened.channel_id },
      }),
      'notFound',
    );
  });

  test('node_info tells true sums: what max_sendable says can be sent, and not more', async () => {
    const { client_credentials: credentials } = await world.post('/sandbox/wallets');
    const info = await world.get('/v2/node/node_info', {}, credentials);
    expect(info.balance).toBe(
      String(Number(info.lightning_balance) + Number(info.onchain_balance)),
    );
    expect(Number(info.lightning_max_sendable_balance)).toBeGreaterThanOrEqual(
      Number(info.lightning_sendable_balance),
    );
    expect(info.version).toContain('sandbox');
    const most = info.lightning_max_sendable_balance;
    const inside = await world.post('/v2/node/create_invoice', { amount: most });
    expect(
      await world.post('/v2/node/pay_invoice', { invoice: inside.invoice }, credentials),
    ).toMatchObject({ status: 'completed' });
    const next = await world.post('/v2/node/create_invoice', { amount: '1' });
    expectError(
      await world.call('POST', '/v2/node/pay_invoice', {
        body: { invoice: next.invoice },
        credentials,
      }),
      'refused',
    );
  });

  test('what lightning_sendable_balance says can be sent to the outside world', async () => {
    const { client_credentials: credentials } = await world.post('/sandbox/wallets');
    const { lightning_sendable_balance } = await world.get('/v2/node/node_info', {}, credentials);
    const { invoice } = await world.post('/sandbox/invoice', {
      amount: lightning_sendable_balance,
    });
    expect(await world.post('/v2/node/pay_invoice', { invoice }, credentials)).toMatchObject({
      status: 'completed',
    });
  });

  test('first money opens a channel just in time, and an info payment records the waived cost', async () => {
    const { client_credentials: credentials } = await world.post('/sandbox/wallets');
    const { payments } = await world.get('/v2/node/updated_payments', {}, credentials);
    expect(payments.find(({ direction }: Body) => direction === 'info')).toMatchObject({
      kind: 'waived_channel_fee',
      status: 'completed',
    });
  });
});

describe('LNURL over real HTTP', () => {
  const service = (body: object) =>
    world.post('/sandbox/lnurl', { min_amount: '10', max_amount: '500', ...body });

  test('LNURL-pay: terms in analyze, limits, comment cut to length, payment', async () => {
    const { lnurl } = await service({ tag: 'payRequest', comment_length: 5, description: 'Shop' });
    const { payables } = await analyze(lnurl);
    expect(payables).toEqual([
      expect.objectContaining({
        kind: 'lnurl-pay',
        lnurl,
        description: 'Shop',
        amount: null,
        min_amount: '10',
        max_amount: '500',
      }),
    ]);
    const sent = await world.post('/v2/node/pay_lnurl', {
      lnurl,
      amount: '100',
      message: 'too long',
    });
    expect(sent).toMatchObject({ status: 'completed', amount: '100', message: 'too l' });
    for (const amount of ['9', '501']) {
      expectError(
        await world.call('POST', '/v2/node/pay_lnurl', { body: { lnurl, amount } }),
        'rejected',
        /from 10 to 500/,
      );
    }
  });

  test('LNURL-withdraw: claimable in analyze, the most by default, limits', async () => {
    const { lnurl } = await service({ tag: 'withdrawRequest' });
    const { claimables, payables } = await analyze(lnurl);
    expect(payables).toEqual([]);
    expect(claimables).toEqual([
      expect.objectContaining({
        kind: 'lnurl-withdraw',
        lnurl,
        min_amount: '10',
        max_amount: '500',
      }),
    ]);
    const callback = new URL(claimables[0].callback);
    const got = await world.call('POST', callback.pathname, {
      query: Object.fromEntries(callback.searchParams),
      body: {},
    });
    expect(got.body).toMatchObject({ direction: 'inbound', status: 'completed', amount: '500' });
    expect(
      await world.post('/v2/node/withdraw_lnurl', { lnurl, amount: '20', personal_note: 'mine' }),
    ).toMatchObject({ amount: '20', personal_note: 'mine' });
    expectError(
      await world.call('POST', '/v2/node/withdraw_lnurl', { body: { lnurl, amount: '9' } }),
      'rejected',
    );
    expectError(
      await world.call('POST', '/v2/node/pay', { body: { payable: lnurl, amount: '20' } }),
      'rejected',
      /withdraw/,
    );
    const { lnurl: other } = await service({ tag: 'payRequest' });
    expectError(
      await world.call('POST', '/v2/node/withdraw_lnurl', { body: { lnurl: other } }),
      'refused',
    );
    expectError(
      await world.call('POST', '/v2/node/withdraw_lnurl', {
        body: { lnurl },
        query: { lnurl: other },
      }),
      'rejected',
      /different values/,
    );
  });

  test('a service on this machine in a private range or over plain http elsewhere is refused', async () => {
    for (const lnurl of [
      'lnurlp://10.0.0.1/x',
      'lnurlp://192.168.1.1:8080/x',
      'lnurlp://169.254.169.254/x',
    ]) {
      expectError(
        await world.call('POST', '/v2/node/pay_lnurl', { body: { lnurl, amount: '10' } }),
        'refused',
        /public internet/,
      );
    }
  });
});

describe('names', () => {
  test('unclaimed is 107; a claim gives both addresses, and both can be paid', async () => {
    expectError(await world.call('GET', '/v2/node/human_bitcoin_address'), 'notFound');
    const record = await world.put('/v2/node/human_bitcoin_address', { username: 'satoshi-1' });
    const name = `satoshi-1@127.0.0.1:${world.port}`;
    expect(record).toMatchObject({
      human_bitcoin_address: `₿${name}`,
      lightning_address: name,
      updatable: true,
    });
    expect(await world.get('/v2/node/human_bitcoin_address')).toEqual(record);
    expect(await pay({ payable: `₿${name}`, amount: '7' })).toMatchObject({
      status: 'completed',
      rail: 'offer',
    });
    expect(await pay({ payable: name, amount: '8', message: 'comment' })).toMatchObject({
      status: 'completed',
      rail: 'invoice',
      message: 'comment',
    });
    expect((await analyze(`₿${name}`)).payables[0]).toMatchObject({
      kind: 'offer',
      offer: record.offer,
    });
    expect((await analyze(name)).payables[0]).toMatchObject({ kind: 'lnurl-pay' });
  });

  test('it can be changed for 24 hours, is then frozen for 90 days, and is updatable again', async () => {
    await world.put('/v2/node/human_bitcoin_address', { username: 'satoshi-2' });
    expectError(
      await world.call('PUT', '/v2/node/human_bitcoin_address', {
        body: { username: 'satoshi-2' },
        credentials: world.bob,
      }),
      'refused',
      /taken/,
    );
    await world.post('/sandbox/clock', { advance_secs: 24 * 3600 + 1 });
    expect((await world.get('/v2/node/human_bitcoin_address')).updatable).toBe(false);
    expectError(
      await world.call('PUT', '/v2/node/human_bitcoin_address', {
        body: { username: 'satoshi-3' },
      }),
      'refused',
      /frozen/,
    );
    await world.post('/sandbox/clock', { advance_secs: 90 * 24 * 3600 });
    expect((await world.get('/v2/node/human_bitcoin_address')).updatable).toBe(true);
    await world.put('/v2/node/human_bitcoin_address', { username: 'satoshi-3' });
  });

  for (const username of [
    'short',
    'x'.repeat(25),
    'Upper1',
    '-start',
    'end---',
    'two--hyphens',
    'under_score',
    'spa ce1',
  ]) {
    test(`refuses the username ${username}`, async () => {
      expectError(
        await world.call('PUT', '/v2/node/human_bitcoin_address', { body: { username } }),
        'rejected',
      );
    });
  }
});

describe('pay and analyze', () => {
  test('a unified URI recommends offer, invoice, address in this order, and its callbacks work', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '3000' });
    const uri = encodeBip321({
      address: await address(),
      invoice,
      offer,
      amountMsat: 3_000_000n,
      message: 'Lunch',
    });
    const { payables } = await analyze(uri);
    expect(payables.map(({ kind, amount }: Body) => [kind, amount])).toEqual([
      ['offer', '3000'],
      ['invoice', '3000'],
      ['onchain', '3000'],
    ]);
    for (const { callback } of payables) {
      const url = new URL(callback);
      expect(url.origin).toBe(world.baseUrl);
      const paid = await world.call('POST', url.pathname, {
        query: Object.fromEntries(url.searchParams),
        body: {},
        credentials: world.bob,
      });
      expect(paid.body.amount).toBe('3000');
    }
    expect(
      await pay({
        payable: uri
          .toUpperCase()
          .replace('BITCOIN', 'bitcoin')
          .replaceAll('AMOUNT=0.00003', 'amount=0.00003'),
      }),
    ).toMatchObject({ rail: 'offer' });
  });

  test('every method can be paid by pay from a second wallet', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '12' });
    expect(await pay({ payable: `lightning:${invoice.toUpperCase()}` })).toMatchObject({
      rail: 'invoice',
      status: 'completed',
    });
    expect(await pay({ payable: await address(), amount: '2000' })).toMatchObject({
      rail: 'onchain',
      status: 'pending',
    });
    const { lnurl } = await world.post('/sandbox/lnurl', {
      tag: 'payRequest',
      min_amount: '1',
      max_amount: '99',
    });
    expect(await pay({ payable: lnurl, amount: '50' })).toMatchObject({
      rail: 'invoice',
      status: 'completed',
    });
  });

  test('body and query must agree', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '12' });
    const conflict = await world.call('POST', '/v2/node/pay', {
      body: { payable: invoice, amount: '12' },
      query: { amount: '13' },
      credentials: world.bob,
    });
    expectError(conflict, 'rejected', /different values/);
    const same = await world.call('POST', '/v2/node/pay', {
      body: { payable: invoice, amount: '12' },
      query: { payable: invoice, amount: '12.0' },
      credentials: world.bob,
    });
    expect(same.body.status).toBe('completed');
    expectError(await world.call('POST', '/v2/node/pay', { body: {} }), 'rejected', /payable/);
  });

  test('an amount is needed where the payable has none, and must equal the one it has', async () => {
    const free = await world.post('/v2/node/create_invoice', {});
    expectError(
      await world.call('POST', '/v2/node/pay', {
        body: { payable: free.invoice },
        credentials: world.bob,
      }),
      'rejected',
      /how many/,
    );
    const fixed = await world.post('/v2/node/create_invoice', { amount: '5' });
    expectError(
      await world.call('POST', '/v2/node/pay', {
        body: { payable: fixed.invoice, amount: '6' },
        credentials: world.bob,
      }),
      'rejected',
      /5 sats/,
    );
  });

  test('what cannot be paid is left out, and error 106 says why when nothing is left', async () => {
    const mainnet = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
    expectError(
      await world.call('GET', '/v2/node/analyze', { query: { payment_string: mainnet } }),
      'refused',
      /bitcoin/,
    );
    const { offer } = await world.post('/v2/node/create_offer');
    expect(
      (await analyze(`bitcoin:${mainnet}?lno=${offer}`)).payables.map(({ kind }: Body) => kind),
    ).toEqual(['offer']);
    expectError(
      await world.call('GET', '/v2/node/analyze', {
        query: { payment_string: `bitcoin:?req-new=1&lno=${offer}` },
      }),
      'rejected',
      /req-new/,
    );
    expectError(
      await world.call('GET', '/v2/node/analyze', { query: { payment_string: 'hello world' } }),
      'rejected',
    );
    expectError(await world.call('GET', '/v2/node/analyze'), 'rejected', /payment_string/);
  });

  test('buy_with_payment_app gives a link that the outside world pays in the sandbox', async () => {
    expectError(
      await world.call('POST', '/v2/node/buy_with_payment_app', { body: { amount: '4999' } }),
      'rejected',
      /5000/,
    );
    const { redirect_url, index } = await world.post('/v2/node/buy_with_payment_app', {
      amount: '5000',
    });
    expect(redirect_url).toStartWith('https://cash.app/launch/lightning/lnbcrt');
    await world.post('/sandbox/pay', { payable: redirect_url });
    expect(await world.get('/v2/node/payment', { index })).toMatchObject({
      status: 'completed',
      amount: '5000',
      direction: 'inbound',
    });
  });

  test('a spontaneous payment comes in', async () => {
    const { node_pk } = await world.get('/v2/node/node_info');
    await world.post('/sandbox/pay', { payable: node_pk, amount: '66' });
    expect(await arrived((payment) => payment.rail === 'spontaneous')).toMatchObject({
      kind: 'spontaneous',
      direction: 'inbound',
      amount: '66',
    });
  });

  test('the sandbox funds a wallet on request', async () => {
    expect(await world.post('/sandbox/fund', { amount: '77', rail: 'lightning' })).toMatchObject({
      amount: '77',
    });
  });
});
