import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

const LONG_MS = 300_000;
/** More than are followed one by one. */
const MANY = 40;

describeNetwork('hold invoices on LND', (network) => {
  let sidecar: NodeSidecar;
  beforeAll(async () => {
    sidecar = await startNodeSidecar(['--client-credentials', await connectLnd(network().alice)]);
  }, LONG_MS);
  afterAll(() => sidecar?.close());

  const bob = () => outsider(network().bob);
  const payment = (index: string) => sidecar.get('/v2/node/payment', { index });
  async function open(change: object = {}): Promise<Body & { preimage: string }> {
    const preimage = randomBytes(32);
    const payment_hash = createHash('sha256').update(preimage).digest('hex');
    const made = await sidecar.post('/v2/node/create_invoice', {
      amount: '20',
      payment_hash,
      ...change,
    });
    return { ...made, preimage: preimage.toString('hex') };
  }
  const settle = ({ index, preimage }: Body) =>
    sidecar.post('/v2/node/settle_invoice', { index, preimage });
  /** The updates of a payment that the event stream has told, in order. */
  async function follow(index: string) {
    const stop = new AbortController();
    const response = await fetch(`${sidecar.baseUrl}/v2/node/events`, { signal: stop.signal });
    const told: string[] = [];
    void (async () => {
      let text = '';
      for await (const chunk of response.body ?? []) {
        text += new TextDecoder().decode(chunk);
        told.length = 0;
        for (const line of text.split('\n').filter((one) => one.startsWith('data: '))) {
          const one = JSON.parse(line.slice('data: '.length));
          if (one.index === index) told.push(`${one.status} ${one.status_msg}`);
        }
      }
    })().catch(() => undefined);
    return { told, stop: () => stop.abort() };
  }

  test('the event stream tells that it is held, without anybody asking', async () => {
    const made = await open();
    const events = await follow(made.index);
    const paying = bob().pays(made.invoice);
    await waitUntil('it is told', async () => events.told.includes('pending held'));
    await settle(made);
    await waitUntil('its end is told', async () => events.told.includes('completed completed'));
    events.stop();
    expect(await paying).toBe('SUCCEEDED');
  });

  test('one that was made and paid while the sidecar was away is held when it is back', async () => {
    const made = await open();
    await sidecar.stop();
    const paying = bob().pays(made.invoice);
    await waitUntil('LND holds it', async () => {
      const path = `/v1/invoice/${made.payment_hash}`;
      return (await network().alice.rest<{ state: string }>('GET', path)).state === 'ACCEPTED';
    });
    await sidecar.start();
    const { told, stop } = await follow(made.index);
    await waitUntil('it is held', async () => (await payment(made.index)).status_msg === 'held');
    await settle(made);
    await waitUntil('its end is told', async () => told.includes('completed completed'));
    stop();
    expect(await paying).toBe('SUCCEEDED');
  });

  test('what is held does not expire with its invoice; what was never held does', async () => {
    const held = await open({ expiration_secs: 8 });
    const unpaid = await open({ expiration_secs: 1 });
    const paying = bob().pays(held.invoice);
    await waitUntil('it is held', async () => (await payment(held.index)).status_msg === 'held');
    const gone = await sidecar.get('/v2/node/wait_for_payment', {
      index: unpaid.index,
      timeout_secs: '40',
    });
    expect(gone).toMatchObject({ status: 'failed', status_msg: 'expired' });
    await waitUntil('the invoice has expired', async () => Date.now() > held.expires_at + 1000);
    expect(await payment(held.index)).toMatchObject({ status: 'pending', status_msg: 'held' });
    await settle(held);
    expect(await paying).toBe('SUCCEEDED');
    expect(await payment(held.index)).toMatchObject({ status: 'completed' });
  });

  test(
    `${MANY} that are open at once are all told as held, and can all be settled`,
    async () => {
      const made: Body[] = [];
      for (let count = 0; count < MANY; count++) made.push(await open({ amount: '1' }));
      const last = made.at(-1) as Body;
      const { told, stop } = await follow(last.index);
      const paying = made.map(({ invoice }) => bob().pays(invoice));
      await waitUntil('the last is told', async () => told.includes('pending held'), 60_000);
      stop();
      for (const one of made) {
        await waitUntil('it is held', async () => (await payment(one.index)).status_msg === 'held');
        await settle(one);
      }
      expect(new Set(await Promise.all(paying))).toEqual(new Set(['SUCCEEDED']));
      for (const { index } of made) {
        expect(await payment(index)).toMatchObject({ status: 'completed' });
      }
    },
    LONG_MS,
  );

  test(
    'what LND gives back before its HTLCs expire is failed / canceled, and the payer has its money',
    async () => {
      const made = await open();
      const events = await follow(made.index);
      const paying = bob().pays(made.invoice);
      await waitUntil('it is held', async () => events.told.includes('pending held'));
      const invoice = await network().alice.rest<{ htlcs: { expiry_height: number }[] }>(
        'GET',
        `/v1/invoice/${made.payment_hash}`,
      );
      const expiry = invoice.htlcs[0]?.expiry_height ?? 0;
      const { btcd } = network();
      // LND cancels ten to twelve blocks before the expiry, by version and configuration.
      await btcd.generate(expiry - 14 - (await btcd.height()));
      for (let left = 13; left > 8 && !events.told.includes('failed canceled'); left--) {
        await btcd.generate(1);
        const tip = await btcd.height();
        await waitUntil('alice knows the tip', async () => {
          const info = await network().alice.rest<{ block_height: number }>('GET', '/v1/getinfo');
          return info.block_height >= tip;
        });
      }
      await waitUntil('its end is told', async () => events.told.includes('failed canceled'));
      events.stop();
      expect(await paying).toBe('FAILED');
    },
    LONG_MS,
  );
});
