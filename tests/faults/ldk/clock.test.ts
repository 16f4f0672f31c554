import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { paymentHashOf } from '../../../src/codecs/preimage.ts';
import { randomHex } from '../../contracts/node/steps.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { hasLdkHelper } from '../../support/ldk-network.ts';
import { type LdkSidecar, openLdkSidecar } from '../../support/ldk-sidecar.ts';
import type { Body } from '../../support/requests.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { jumpingClock } from '../jumping-clock.ts';

setDefaultTimeout(SLOW_TEST_MS);

const HOUR_MS = 3_600_000;
const folder = temporaryFolder('ldk-clock');
const clock = jumpingClock(folder);
const skipped = clock === null || !hasLdkHelper();
if (skipped)
  console.warn('SKIPPED: the clock of an LDK node (no C compiler, or no helper was built).');
afterAll(() => removeFolder(folder));

describe.skipIf(skipped)('an LDK node whose machine has its clock set', () => {
  let wallet: LdkSidecar;

  beforeAll(async () => {
    wallet = await openLdkSidecar({ env: clock?.env ?? {} });
    // Above what the channel reserves, so that the other side can pay too.
    await wallet.pay(80_000_000n);
    await until(async () => (await wallet.outside.sendableMsat()) > 10_000_000n, 'it can pay');
  });
  afterAll(() => wallet.close());

  const invoice = (expirySecs: number): Promise<Body> =>
    wallet.sidecar.post('/v2/node/create_invoice', { amount: '100', expiration_secs: expirySecs });
  const back = () => clock?.set(0);

  test.each([
    ['an hour back', -HOUR_MS],
    ['a day forward', 24 * HOUR_MS],
  ])('%s pays and is paid, and says that nothing is wrong', async (_, offsetMs) => {
    const { hash, payment } = await wallet.pay(1_000_000n, true);
    await until(() => wallet.outside.isHolding(hash), 'the payment has arrived');
    const { address } = await wallet.sidecar.post('/v2/node/get_next_unused_address');
    clock?.set(offsetMs);
    expect(await wallet.payment(payment.index)).toMatchObject({ status: 'pending' });
    await wallet.outside.settle(hash);
    expect(await wallet.ended(payment.index)).toMatchObject({ status: 'completed' });
    const made = await invoice(48 * 3600);
    expect((await wallet.outside.pays(made.invoice)).state).toBe('completed');
    expect(await wallet.ended(made.index)).toMatchObject({ status: 'completed' });

    const txid = wallet.chain.fund(address, 50_000n);
    const listed = () =>
      until(async () => {
        await wallet.sidecar.put('/v2/node/sync_payments');
        const { payments } = await wallet.sidecar.get('/v2/node/list_payments', { filter: 'all' });
        const found = payments.filter((one: Body) => one.txid === txid) as Body[];
        return found.length > 0 && found;
      }, 'the receipt is listed');
    expect(await listed()).toMatchObject([{ status: 'pending' }]);
    wallet.chain.mine(3);
    back();
    wallet.chain.mine(4);
    const [receipt] = await listed();
    await until(
      async () => (await wallet.payment(receipt?.index)).status === 'completed',
      'the receipt is completed',
    );
    expect(await listed()).toHaveLength(1);
    await until(async () => (await wallet.health()) === 'ok', 'nothing is wrong');
  });

  test('forward ends an invoice for good: it is expired, and who pays it has the money back', async () => {
    const made = await invoice(600);
    clock?.set(HOUR_MS);
    expect(await wallet.ended(made.index)).toMatchObject({
      status: 'failed',
      status_msg: 'expired',
    });
    back();
    expect((await wallet.outside.pays(made.invoice)).state).toBe('failed');
    expect(await wallet.payment(made.index)).toMatchObject({ status: 'failed' });
  });

  test('forward refuses what it takes for expired, with nothing sent, and pays it with the right time', async () => {
    const { invoice: foreign } = await wallet.outside.invoice({ amountMsat: 1_000_000n });
    const pay = () =>
      wallet.sidecar.call('POST', '/v2/node/pay_invoice', { body: { invoice: foreign } });
    clock?.set(24 * HOUR_MS);
    const refused = (await pay()).body;
    expect(refused.msg ?? refused.status_msg).toMatch(/expired/);
    back();
    expect((await pay()).body).toMatchObject({ status: 'completed' });
  });

  test('while money is held keeps it held, and settles it', async () => {
    const preimage = randomHex(32);
    const made = await wallet.sidecar.post('/v2/node/create_invoice', {
      ...{ amount: '100', payment_hash: paymentHashOf(preimage), expiration_secs: 600 },
    });
    expect((await wallet.outside.pays(made.invoice, 0)).state).toBe('pending');
    await until(
      async () => (await wallet.payment(made.index)).status_msg === 'held',
      'the money is held',
    );
    const other = await invoice(600);
    clock?.set(24 * HOUR_MS);
    expect(await wallet.ended(other.index)).toMatchObject({ status_msg: 'expired' });
    expect(await wallet.payment(made.index)).toMatchObject({ status_msg: 'held' });
    clock?.set(-HOUR_MS);
    expect(await wallet.payment(made.index)).toMatchObject({ status_msg: 'held' });
    await wallet.sidecar.post('/v2/node/settle_invoice', { index: made.index, preimage });
    expect(await wallet.ended(made.index)).toMatchObject({ status: 'completed' });
    back();
  });
});
