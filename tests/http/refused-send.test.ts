import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { quietResolvers } from '../../src/lib/quiet-resolvers.ts';
import { type Tail, tailByStream, tailByWaits } from '../faults/tails.ts';
import { expectListed, expectTold, walked } from '../faults/truth.ts';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from '../hostile/sidecar-on-fake.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** No reader is shown a spend before it is asked; one that is given up is gone from every list (docs/decisions.md 144). */

const TIMES = 15;
const FUND = '/walletrpc.WalletKit/FundPsbt';
let fake: FakeLnd;
let sidecar: SidecarOnFake;
let tails: readonly Tail[];
/** While set, LND answers no request to fund a transaction. Called when one has arrived. */
let held: { readonly arrived: () => void; readonly go: Promise<void> } | null = null;

beforeAll(async () => {
  fake = await startFakeLnd({
    hooks: {
      async intercept({ rpc }) {
        if (rpc === FUND && held !== null) {
          held.arrived();
          await held.go;
        }
        return false;
      },
    },
  });
  sidecar = await startSidecarOnFake(fake);
  const place = { baseUrl: () => sidecar.baseUrl };
  tails = [tailByStream(place), tailByWaits(place)];
});
afterAll(async () => {
  await Promise.all((tails ?? []).map((tail) => tail.stop()));
  await sidecar?.close();
  await fake?.stop();
});

/** Pays an invoice, so that every tail has something to tell. Returns the payment's index. */
async function payOne(): Promise<string> {
  const { invoice } = fake.payments.foreignInvoice({ amountMsat: 1000n });
  return (await sidecar.post('/v2/node/pay_invoice', { invoice })).index;
}

test('an on-chain send that the node refuses while a sync runs was never there, for lists and tails', async () => {
  const paid: string[] = [];
  const { address } = fake.wallet.newAddress();
  for (let time = 0; time < TIMES; time++) {
    const [arrived, released] = [quietResolvers<void>(), quietResolvers<void>()];
    held = { arrived: arrived.resolve, go: released.promise };
    const sending = sidecar.call('POST', '/v2/node/pay_onchain', {
      body: { address, amount: '900000000' },
    });
    await arrived.promise;
    await sidecar.put('/v2/node/sync_payments');
    paid.push(await payOne());
    const syncing = sidecar.put('/v2/node/sync_payments');
    released.resolve();
    expect(await sending).toMatchObject({
      status: 400,
      body: { code: 106, data: { sent: 'no' } },
    });
    await syncing;
    held = null;
  }
  const payments = await walked(sidecar);
  const sent = payments.filter(({ direction }) => direction === 'outbound');
  expect(sent.map(({ index }) => index)).toEqual(paid);
  await expectListed(sidecar, payments);
  for (const tail of tails) await expectTold(tail, payments);
});
