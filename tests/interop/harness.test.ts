import { expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { base64, hex } from '@scure/base';
import { rejection, throwing } from '../support/rejection.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { describeNetwork, LndRestError } from './harness/index.ts';
import { leavesNothing } from './leaves-nothing.ts';

setDefaultTimeout(SLOW_TEST_MS);

interface PaymentUpdate {
  readonly status: string;
  readonly payment_preimage: string;
  readonly failure_reason: string;
}

describeNetwork('the interop harness', (network) => {
  async function pay(from: 'alice' | 'bob', to: 'alice' | 'bob'): Promise<void> {
    const invoice = await network()[to].rest<{ payment_request: string; r_hash: string }>(
      'POST',
      '/v1/invoices',
      { value_msat: '1234567', memo: 'harness' },
    );
    const updates = await Array.fromAsync(
      network()[from].stream<PaymentUpdate>('POST', '/v2/router/send', {
        payment_request: invoice.payment_request,
        fee_limit_msat: '1000',
        timeout_seconds: 30,
      }),
    );
    const final = updates.at(-1);
    expect(final?.failure_reason).toBe('FAILURE_REASON_NONE');
    expect(final?.status).toBe('SUCCEEDED');
    const proof = hex.decode(final?.payment_preimage ?? '');
    expect(createHash('sha256').update(proof).digest('base64')).toBe(invoice.r_hash);
    const received = await network()[to].rest<{ state: string; amt_paid_msat: string }>(
      'GET',
      `/v1/invoice/${hex.encode(base64.decode(invoice.r_hash))}`,
    );
    expect(received).toMatchObject({ state: 'SETTLED', amt_paid_msat: '1234567' });
  }

  test('the very first payment over the new channel succeeds, in both directions', async () => {
    await pay('alice', 'bob');
    await pay('bob', 'alice');
  });

  test('a node beyond bob is paid over two channels, and bob takes his fee', async () => {
    const carol = await network().addBeyondBob('carol');
    const { payment_request } = await carol.rest<{ payment_request: string }>(
      'POST',
      '/v1/invoices',
      { value_msat: '1000000' },
    );
    const updates = await Array.fromAsync(
      network().alice.stream<PaymentUpdate & { fee_msat: string }>('POST', '/v2/router/send', {
        payment_request,
        fee_limit_msat: '5000',
        timeout_seconds: 30,
      }),
    );
    expect(updates.at(-1)?.status).toBe('SUCCEEDED');
    expect(Number(updates.at(-1)?.fee_msat)).toBeGreaterThan(0);
  });

  test('a node that crashed comes back on the same address and pays again', async () => {
    const { restUrl, pubkey } = network().alice;
    await network().alice.kill();
    expect(await throwing(network().alice.rest('GET', '/v1/getinfo'))).toThrow();
    await network().alice.start();
    await network().channelUsable();
    expect(network().alice.restUrl).toBe(restUrl);
    expect(await network().alice.rest('GET', '/v1/getinfo')).toMatchObject({
      identity_pubkey: pubkey,
    });
    await pay('alice', 'bob');
  }, 60_000);

  test('coins sent by the miner arrive unconfirmed and a block confirms them', async () => {
    const { address } = await network().bob.rest<{ address: string }>(
      'GET',
      '/v1/newaddress?type=2',
    );
    const txid = await network().btcd.send([{ address, amountSat: 21_000n }]);
    const confirmations = async (): Promise<number | null> => {
      const { transactions } = await network().bob.rest<{
        transactions: { tx_hash: string; num_confirmations: number }[];
      }>('GET', '/v1/transactions?end_height=-1');
      return transactions.find((one) => one.tx_hash === txid)?.num_confirmations ?? null;
    };
    expect(await waitUntil('bob sees the coins', confirmations)).toBe(0);
    await network().btcd.generate(1);
    await waitUntil('the coins are confirmed', async () => (await confirmations()) === 1);
  });

  test('a fresh node waits for its wallet and has no macaroon', async () => {
    const fresh = await network().addFreshNode('fresh');
    expect(await fresh.state()).toBe('NON_EXISTING');
    expect(existsSync(fresh.macaroonPath)).toBe(false);
    await fresh.stop();
  });

  test(
    'a test run that is killed leaves no process and no folder behind',
    () => leavesNothing('const { alice } = await startNetwork(findBinaries()[0]);'),
    90_000,
  );

  test('a call without a macaroon is refused by the node itself', async () => {
    const refused = network().alice.rest('GET', '/v1/getinfo', undefined, { macaroonHex: null });
    expect(await rejection(refused)).toBeInstanceOf(LndRestError);
    expect(await rejection(refused)).toMatchObject({ status: 500 });
  });
});
