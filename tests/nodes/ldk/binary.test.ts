import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeOffer } from '../../../src/codecs/bolt12/index.ts';
import { randomHex } from '../../contracts/node/steps.ts';
import type { NodeSidecar } from '../../interop/node-sidecar.ts';
import { runBinary } from '../../support/binary.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import {
  hasLdkHelper,
  helpersOf,
  killHelperOf,
  type OutsideNode,
} from '../../support/ldk-network.ts';
import { type LdkSidecar, openLdkSidecar } from '../../support/ldk-sidecar.ts';
import type { Body } from '../../support/requests.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The sidecar waits half a second for other nodes. */
const LONGER_THAN_OTHER_PARTS_MS = 2_000;

describe.skipIf(!hasLdkHelper())('the compiled binary with --node ldk', () => {
  let wallet: LdkSidecar;
  let outside: OutsideNode;
  let sidecar: NodeSidecar;

  beforeAll(async () => {
    wallet = await openLdkSidecar();
    ({ outside, sidecar } = wallet);
  });
  afterAll(() => wallet.close());

  const info = () => wallet.info();
  const payment = (index: string) => wallet.payment(index);
  const ended = (index: string) => wallet.ended(index);
  const usable = () => wallet.usable();
  const killNode = () => killHelperOf(sidecar.dataDir);

  const pay = async (amountMsat: bigint, holds = false, credentials?: string) => {
    const made = await outside.invoice({ amountMsat, holds });
    const answer = await sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice: made.invoice },
      headers: { 'Idempotency-Key': made.hash, Prefer: 'respond-async' },
      ...(credentials === undefined ? {} : { credentials }),
    });
    return { ...made, answer };
  };

  test('pays, is paid, and keeps its wallet over a restart', async () => {
    const { answer } = await pay(80_000_000n);
    expect((await ended(answer.body.index)).status).toBe('completed');
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '50000' });
    await until(
      async () => (await outside.sendableMsat()) > 50_000_000n,
      'the other has the money',
    );
    expect((await outside.pays(made.invoice)).state).toBe('completed');
    expect(await ended(made.index)).toMatchObject({ status: 'completed', amount: '50000' });
    // The channel's balance follows the end of a payment by a moment.
    const before = await until(async () => {
      const now = await info();
      return now.lightning_balance === '970000' && now;
    }, 'the balance has both payments');
    expect(before.version).toBe('0.7.1');
    expect(await sidecar.stop()).toBe(0);
    await sidecar.start();
    await usable();
    expect(await info()).toMatchObject({
      ...{ user_pk: before.user_pk, node_pk: before.node_pk },
      lightning_balance: before.lightning_balance,
    });
    expect((await payment(answer.body.index)).status).toBe('completed');
  });

  test('makes no payer proof: of a paid invoice and of a paid offer it is error 110', async () => {
    const byInvoice = (await pay(10_000_000n)).answer.body.index;
    const offer = await outside.offer({ amountMsat: null });
    const byOffer = (await sidecar.post('/v2/node/pay_offer', { offer, amount: '5000' })).index;
    for (const index of [byInvoice, byOffer]) {
      expect((await ended(index)).status).toBe('completed');
      const answer = await sidecar.call('POST', '/v2/node/create_payer_proof', { body: { index } });
      expect(answer.body.code).toBe(110);
    }
  });

  test('a stop waits until the node has stopped, which would be killed with a container', async () => {
    const [pid = 0] = helpersOf(sidecar.dataDir);
    process.kill(pid, 'SIGSTOP');
    let code: number | null = null;
    const stopped = sidecar.stop().then((ended) => {
      code = ended;
    });
    await Bun.sleep(LONGER_THAN_OTHER_PARTS_MS);
    expect(code).toBeNull();
    process.kill(pid, 'SIGCONT');
    await stopped;
    expect(code as number | null).toBe(0);
    expect(helpersOf(sidecar.dataDir)).toEqual([]);
    await sidecar.start();
    await usable();
  });

  test('a client spends no more than its budget', async () => {
    const { client_credentials } = await sidecar.post('/v2/node/create_client', {
      ...{ scopes: ['send'], label: 'bot', budget: { amount: '2000', period: 'total' } },
    });
    const paid = await pay(1_000_000n, false, client_credentials);
    expect((await ended(paid.answer.body.index)).status).toBe('completed');
    expect((await pay(1_500_000n, false, client_credentials)).answer.body).toMatchObject({
      code: 109,
    });
  });

  test('the node is started again when its process dies, and a payment on its way ends as it should', async () => {
    const { answer, hash } = await pay(1_000_000n, true);
    await until(() => outside.isHolding(hash), 'the payment has arrived');
    killNode();
    await usable();
    expect((await payment(answer.body.index)).status).toBe('pending');
    await outside.settle(hash);
    expect((await ended(answer.body.index)).status).toBe('completed');
  });

  test('a sidecar that is killed finds its payment again, and the same request is the same payment', async () => {
    const { answer, hash, invoice } = await pay(1_000_000n, true);
    await until(() => outside.isHolding(hash), 'the payment has arrived');
    await sidecar.kill();
    await sidecar.start();
    const again = await until(async () => {
      const { body } = await sidecar.call('POST', '/v2/node/pay_invoice', {
        body: { invoice },
        headers: { 'Idempotency-Key': hash, Prefer: 'respond-async' },
      });
      return body.index as string | undefined;
    }, 'the request is answered');
    expect(again).toBe(answer.body.index);
    await usable();
    await outside.settle(hash);
    expect((await ended(answer.body.index)).status).toBe('completed');
  });

  const payOffer = async (offer: string, key: string) => {
    const answer = await sidecar.call('POST', '/v2/node/pay_offer', {
      body: { offer, amount: '3000', message: 'two cups' },
      headers: { 'Idempotency-Key': key, Prefer: 'respond-async' },
    });
    return answer.body.index as string;
  };

  test('pays an offer once for a key, and is paid by one', async () => {
    const offer = await outside.offer({ amountMsat: null });
    const { offerId } = decodeOffer(offer);
    const key = randomHex(16);
    const index = await payOffer(offer, key);
    expect(await ended(index)).toMatchObject({
      ...{ status: 'completed', rail: 'offer', offer_id: offerId, amount: '3000' },
      message: 'two cups',
    });
    expect(await payOffer(offer, key)).toBe(index);
    await until(async () => (await outside.receivedOn(offerId)) === 1, 'it has arrived');

    const terms = { description: 'tea', min_amount: '10' };
    const made = await sidecar.post('/v2/node/create_offer', terms);
    await outside.paysOffer(made.offer, 12_000n, 'thank you');
    const { offerId: ownId } = decodeOffer(made.offer);
    const received = await until(async () => {
      await sidecar.put('/v2/node/sync_payments');
      const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'completed' });
      return payments.find((one: Body) => one.offer_id === ownId) as Body | undefined;
    }, 'the payment is listed');
    expect(received).toMatchObject({
      ...{ status: 'completed', direction: 'inbound', amount: '12', message: 'thank you' },
      description: 'tea',
    });
  });

  test.each(['node', 'sidecar'])(
    'a payment of an offer ends as it should when the %s is killed, and its key pays once',
    async (which) => {
      const offer = await outside.offer({ amountMsat: null });
      const { offerId } = decodeOffer(offer);
      const key = randomHex(16);
      const asked = payOffer(offer, key).catch(() => null);
      await until(async () => (await outside.receivedOn(offerId)) === 1, 'it has arrived');
      if (which === 'node') killNode();
      else {
        await sidecar.kill();
        await sidecar.start();
      }
      await asked;
      const index = await until(() => payOffer(offer, key), 'the request is answered');
      expect((await ended(index)).status).toBe('completed');
      expect(await outside.receivedOn(offerId)).toBe(1);
      await usable();
    },
  );

  test('the program is in the data directory, for its owner alone', () => {
    const folder = join(sidecar.dataDir, 'bin');
    expect(existsSync(folder)).toBe(true);
    expect(statSync(folder).mode & 0o077).toBe(0);
  });
});

test.skipIf(hasLdkHelper())('a build without the node says so, and does not start', async () => {
  const folder = temporaryFolder('ldk-none');
  const seedPath = join(folder, 'seed');
  writeFileSync(seedPath, randomHex(32), { mode: 0o600 });
  const chain = ['--network', 'signet', '--esplora-url', 'http://127.0.0.1:9'];
  const { exitCode, stderr } = await runBinary([
    ...['serve', '--node', 'ldk', ...chain, '--root-seed-path', seedPath],
    ...['--data-dir', folder, '--listen-addr', '127.0.0.1:0'],
  ]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('npm run build:helper')]);
  removeFolder(folder);
});
