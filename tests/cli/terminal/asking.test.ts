import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { BARE_ENV, startOnTerminal, type TerminalProcess } from '../../support/binary.ts';
import { sendOk } from '../../support/requests.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { type CliWorld, openCliWorld } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const CTRL_C = '\u0003';

let world: CliWorld;
/** One bitcoin costs 30,000 in every currency. */
const exchange = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response('{"price":30000}'),
});
beforeAll(async () => {
  const source = `http://127.0.0.1:${exchange.port}/{currency}#/price`;
  world = await openCliWorld(['--rate-source', source]);
});
afterAll(async () => {
  await world.close();
  await exchange.stop(true);
});

function start(...args: readonly string[]): TerminalProcess {
  const env = { ...BARE_ENV, SERVICE_DATA_DIR: world.dataDir };
  return startOnTerminal(args, { columns: 100, env });
}

async function outsideInvoice(behavior = 'settle') {
  return world.api('POST', '/sandbox/invoice', { amount: '1000', behavior, description: 'Tea' });
}

/** Returns the outbound payments of an invoice. */
async function paymentsOf(hash: string) {
  const { payments } = await world.json('payments', '--direction', 'outbound');
  return payments.filter((payment: { hash: string }) => payment.hash === hash);
}

describe('a payment on a terminal', () => {
  test('is sent only after yes to what is paid, to whom and the most it may cost', async () => {
    const { invoice, payment_hash } = await outsideInvoice();
    const paying = start('pay', invoice);
    await paying.shows('[y/N]');
    expect(paying.screen()).toMatch(/^Pay +1,000 sats\r$/m);
    expect(paying.screen()).toMatch(/^To +the node 0[23][0-9a-f]{64}, by invoice\r$/m);
    expect(paying.screen()).toMatch(/^For +Tea\r$/m);
    expect(paying.screen()).toMatch(/^In all +at most 1,010 sats\r$/m);
    expect(await paymentsOf(payment_hash)).toEqual([]);
    paying.type('y\n');
    expect(await paying.exit()).toBe(0);
    expect(await paymentsOf(payment_hash)).toMatchObject([{ status: 'completed' }]);
  });

  for (const [name, answer, exitCode] of [
    ['no', 'n\n', 1],
    ['an empty line', '\n', 1],
    ['the end of the input', '\u0004', 1],
    ['Ctrl-C', CTRL_C, 130],
  ] as const) {
    test(`is not sent after ${name}`, async () => {
      const { invoice, payment_hash } = await outsideInvoice();
      const paying = start('pay', invoice);
      await paying.shows('[y/N]');
      paying.type(answer);
      expect(await paying.exit()).toBe(exitCode);
      expect(paying.screen()).toContain('Nothing was sent.');
      expect(await paymentsOf(payment_hash)).toEqual([]);
    });
  }

  for (const [name, before, answer] of [
    ['a whole line', 'y\n', 'n\n'],
    ['a word without its end', 'y', '\n'],
  ] as const) {
    test(`is not agreed to by what was typed before the question: ${name}`, async () => {
      const { invoice, payment_hash } = await outsideInvoice();
      const paying = start('pay', invoice);
      paying.type(before);
      await paying.shows('[y/N]');
      paying.type(answer);
      expect(await paying.exit()).toBe(1);
      expect(paying.screen()).toContain('Nothing was sent.');
      expect(await paymentsOf(payment_hash)).toEqual([]);
    });
  }

  test('holds what was agreed on: the fee cannot be higher than the question said', async () => {
    const { invoice, payment_hash } = await outsideInvoice();
    const paying = start('pay', invoice, '--max-fee', '0');
    await paying.shows(/at most 1,000 sats[\s\S]*\[y\/N\]/);
    paying.type('y\n');
    expect(await paying.exit()).toBe(1);
    expect(await paymentsOf(payment_hash)).toMatchObject([{ status: 'failed' }]);
  });

  test('takes the amount after the string, and asks for one where there is none', async () => {
    const { offer } = await world.api('POST', '/sandbox/offer', {});
    const without = start('pay', offer);
    expect(await without.exit()).toBe(1);
    expect(without.screen()).toContain('names no amount: give one after it');
    const paying = start('pay', offer, '12');
    await paying.shows(/Pay +12 sats[\s\S]*\[y\/N\]/);
    paying.type('yes\n');
    expect(await paying.exit()).toBe(0);
  });

  test('--price is shown with what it is worth, and the price is what is paid', async () => {
    const { offer } = await world.api('POST', '/sandbox/offer', {});
    const paying = start('pay', offer, '--price', '4.5 eur');
    await paying.shows('[y/N]');
    expect(paying.screen()).toMatch(/^Pay +4\.5 EUR, about 15,000 sats\r$/m);
    expect(paying.screen()).toMatch(/^Fees +at most 150 sats\r$/m);
    expect(paying.screen()).not.toContain('In all');
    paying.type('y\n');
    expect(await paying.exit()).toBe(0);
    const price = { currency: 'EUR', amount: '4.50' };
    expect(await world.json('show', 'last')).toMatchObject({ price, amount: '15000' });
    const again = await world.json('pay', offer, '--price', '0.3 EUR');
    expect(again).toMatchObject({ amount: '1000', price: { currency: 'EUR', amount: '0.30' } });
    for (const beside of [['5'], ['--amount', '5'], ['--all'], ['--priority', 'high']]) {
      const wrong = await world.run('pay', offer, '--price', '1 EUR', ...beside);
      expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--price') });
    }
    expect((await world.run('pay', offer, '--price', '1.001 EUR')).exitCode).toBe(2);
  });

  test('of an offer in a currency asks for its price, unless an amount is given', async () => {
    const price = { currency: 'EUR', amount: '3.00' };
    const { offer } = await world.api('POST', '/sandbox/offer', { price, min_amount: '10100' });
    const { stdout } = await world.run('analyze', offer);
    expect(stdout).toMatch(/^Price +3\.00 EUR\nAmount +yours to choose, at least 10,000 sats$/m);
    const paying = start('pay', offer);
    await paying.shows('[y/N]');
    expect(paying.screen()).toMatch(/^Pay +3\.00 EUR, about 10,000 sats\r$/m);
    paying.type('y\n');
    expect(await paying.exit()).toBe(0);
    expect(await world.json('show', 'last')).toMatchObject({ price, amount: '10100' });
    const exact = start('pay', offer, '10200');
    await exact.shows(/Pay +10,200 sats[\s\S]*\[y\/N\]/);
    exact.type('y\n');
    expect(await exact.exit()).toBe(0);
    expect(await world.json('show', 'last')).toMatchObject({ price: null, amount: '10200' });
  });

  test('on chain is for at most twice the estimate, and for everything with --all', async () => {
    const { address } = await world.api('POST', '/v2/node/get_next_unused_address', {}, world.bob);
    for (const words of [[`bitcoin:${address}?amount=0.0002`], [address, '20000']]) {
      const paying = start('pay', ...words);
      await paying.shows('[y/N]');
      const [, about, most] =
        /about ([\d,]+) sats, at most ([\d,]+) sats/.exec(paying.screen()) ?? [];
      expect(Number(about?.replace(',', ''))).toBeGreaterThan(0);
      expect(Number(most?.replace(',', ''))).toBe(2 * Number(about?.replace(',', '')));
      expect(paying.screen()).toContain('20,000 sats');
      expect(paying.screen()).toContain(`the address ${address}`);
      paying.type('n\n');
      await paying.exit();
    }
    const all = start('pay', address, '--all', '--max-fee', '5000', '--priority', 'high');
    await all.shows(/everything that is on chain[\s\S]*at most 5,000 sats[\s\S]*\[y\/N\]/);
    all.type('y\n');
    expect(await all.exit()).toBe(0);
    expect((await world.json('info')).onchain_trusted_balance).toBe('0');
  });

  test('--yes asks nothing', async () => {
    const { invoice } = await outsideInvoice();
    const paying = start('pay', invoice, '--yes');
    expect(await paying.exit()).toBe(0);
    expect(paying.screen()).not.toContain('[y/N]');
  });

  test('after Ctrl-C the words that it shows give its result without paying twice', async () => {
    const { invoice, payment_hash } = await outsideInvoice('hold');
    const paying = start('pay', invoice);
    await paying.shows('[y/N]');
    paying.type('y\n');
    await paying.shows('Paying... 1 s');
    paying.type(CTRL_C);
    expect(await paying.exit()).toBe(130);
    const screen = paying.screen();
    const key = /^Idempotency-Key: (\S+)\r$/m.exec(screen)?.[1] ?? 'none';
    const words = /run the same command with (.+) to get its result/.exec(screen)?.[1] ?? '';
    expect(words).toContain(key);
    const again = world.json('pay', invoice, ...words.split(' '));
    await world.json('sandbox', 'hold', payment_hash, 'settle');
    expect(await again).toMatchObject({ status: 'completed', hash: payment_hash });
    expect(await paymentsOf(payment_hash)).toHaveLength(1);
  });
});

describe('other requests that cost', () => {
  test('keysend asks with its fee cap, and a repeat needs the same words', async () => {
    const { node_pk } = await world.api('POST', '/sandbox/wallets', {});
    const paying = start('keysend', node_pk, '2000');
    await paying.shows(/Pay +2,000 sats[\s\S]*the node 0[23][\s\S]*at most 20 sats[\s\S]*\[y\/N\]/);
    paying.type('y\n');
    expect(await paying.exit()).toBe(0);
  });

  test('keysend takes a price in place of the amount, which is shown with what it is worth', async () => {
    const { node_pk } = await world.api('POST', '/sandbox/wallets', {});
    const paying = start('keysend', node_pk, '--price', '4.5 eur');
    await paying.shows(/Pay +4\.5 EUR, about 15,000 sats[\s\S]*at most 150 sats[\s\S]*\[y\/N\]/);
    paying.type('y\n');
    expect(await paying.exit()).toBe(0);
    const priced = await world.json('keysend', node_pk, '--price', '0.3 EUR');
    const price = { currency: 'EUR', amount: '0.30' };
    expect(priced).toMatchObject({ amount: '1000', price, status: 'completed' });
    for (const words of [[], ['100', '--price', '1 EUR']]) {
      const wrong = await world.run('keysend', node_pk, ...words);
      expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--price') });
    }
  });

  test('channels open and close ask', async () => {
    const opening = start('channels', 'open', '20000');
    await opening.shows(/Open a channel of 20,000 sats[\s\S]*\[y\/N\]/);
    opening.type('n\n');
    expect(await opening.exit()).toBe(1);
    const closing = start('channels', 'close', 'ab'.repeat(32), '--force');
    await closing.shows(/without its peer[\s\S]*\[y\/N\]/);
    closing.type('n\n');
    expect(await closing.exit()).toBe(1);
  });

  test('approve asks, and reject and approve take the id that the list shows', async () => {
    const created = ['clients', 'create', '--scope', 'send', '--approve-above'] as const;
    const { client_pk, client_credentials } = await world.json(...created, '100');
    const waiting = async (behavior?: string) => {
      const { invoice } = await outsideInvoice(behavior);
      const headers = { Prefer: 'respond-async' };
      const asked = { body: { invoice }, credentials: client_credentials, headers };
      const { hash } = await sendOk(world.baseUrl, 'POST', '/v2/node/pay_invoice', asked);
      const id = hash.slice(0, 10);
      expect((await world.run('payments', '--filter', 'awaiting')).stdout).toContain(id);
      return id;
    };
    const rejected = await waiting();
    expect(await world.json('reject', rejected)).toMatchObject({ status_msg: 'not approved' });
    const id = await waiting();
    const refused = start('approve', id);
    await refused.shows(/awaiting approval[\s\S]*\[y\/N\]/);
    expect(refused.screen()).toMatch(/^Pay +1,000 sats\r$/m);
    expect(refused.screen()).toMatch(/^To +the node 0[23][0-9a-f]{64}\r$/m);
    expect(refused.screen()).toMatch(/^For, they say +Tea\r$/m);
    expect(refused.screen()).toMatch(/^Fees +at most 10 sats\r$/m);
    expect(refused.screen()).toMatch(/^Asked by +(?:Agent|[0-9a-f]{64})\r$/m);
    refused.type('n\n');
    expect(await refused.exit()).toBe(1);
    expect(await world.json('show', id)).toMatchObject({ status_msg: 'awaiting approval' });
    // Nobody looks at what "last" is, where nobody is asked.
    for (const words of [
      ['approve', 'last', '--yes'],
      ['approve', 'LAST'],
      ['reject', 'last'],
    ]) {
      expect(await world.run(...words)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('nobody is asked: name the payment by its id'),
      });
    }
    expect(await start('approve', 'last', '--yes').exit()).toBe(2);
    for (const what of ['approve', 'reject']) {
      const asking = start(what, 'last');
      await asking.shows(/awaiting approval[\s\S]*\[y\/N\]/);
      expect(asking.screen()).toContain(id);
      asking.type('n\n');
      expect(await asking.exit()).toBe(1);
    }
    expect(await world.json('show', id)).toMatchObject({ status_msg: 'awaiting approval' });
    const approving = start('approve', id);
    await approving.shows('[y/N]');
    approving.type('y\n');
    expect(await approving.exit()).toBe(0);
    expect(await world.json('show', id)).toMatchObject({ status: 'completed' });
    const failing = await waiting('fail');
    expect((await world.run('approve', failing, '--yes')).exitCode).toBe(1);
    expect(await world.json('show', failing)).toMatchObject({ status: 'failed' });
    const late = await world.run('approve', failing, '--yes');
    expect(late.stderr).toContain('does not wait for approval');
    const done = await world.run('approve', id, '--yes');
    expect([done.exitCode, done.stderr]).toEqual([1, expect.not.stringContaining('on its way')]);
    const { invoice } = await outsideInvoice();
    const paying = world.run('pay', invoice, '--yes', '--client-credentials', client_credentials);
    const waits = await until(async () => {
      const { payments } = await world.json('payments', '--filter', 'awaiting');
      return payments[0] as { index: string } | undefined;
    });
    await world.run('reject', waits.index);
    expect(await paying).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/owner approves it: wallet-sidecar approve [0-9a-f]{10}/),
    });
    const both = ['--approve-above', '5', '--clear-approve-above'];
    expect((await world.run('clients', 'update', client_pk, ...both)).exitCode).toBe(2);
    const { client } = await world.json('clients', 'update', client_pk, '--clear-approve-above');
    expect(client.approve_above).toBeNull();
  });
});
