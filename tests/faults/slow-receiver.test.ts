import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { deliverEverything, stopTails, twoWallets } from './checks.ts';
import { jumpingClock } from './jumping-clock.ts';
import { expectOneTruth } from './truth.ts';

setDefaultTimeout(SLOW_TEST_MS);

const OTHERS = 20;
/** The time after which a killed process's lease ends by itself. */
const LEASE_MS = 30_000;

const folder = temporaryFolder('slow');
afterAll(() => removeFolder(folder));
const clock = jumpingClock(folder);

test('a receiver that hangs for one payment gets the others meanwhile, and that one after a kill', async () => {
  const stuck = { hash: '', hanging: 0 };
  const accepted = new Map<string, string[]>();
  let good = false;
  const never = Promise.withResolvers<Response>();
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { hash, direction } = (await request.json()) as { hash: string; direction: string };
      if (hash === stuck.hash && !good) {
        stuck.hanging++;
        return never.promise;
      }
      const ids = accepted.get(`${hash} ${direction}`) ?? [];
      ids.push(request.headers.get('webhook-id') ?? '');
      accepted.set(`${hash} ${direction}`, ids);
      return new Response(null, { status: 200 });
    },
  });
  const start = () =>
    startDevSidecar({
      dataDir: join(folder, 'data'),
      port,
      webhookUrl: receiver.url.href,
      env: {
        ...clock?.env,
        SERVICE_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 3).toString('base64')}`,
      },
    });
  const port = freePort();
  let sidecar = await start();
  const { client_credentials: payer } = (await sidecar.call('POST', '/sandbox/wallets', {
    body: {},
  })) as { client_credentials: string };

  const first = await createInvoice(sidecar);
  stuck.hash = first.payment_hash;
  await pay(sidecar, first, payer);
  await until(() => stuck.hanging === 2);
  const hashes = [stuck.hash];
  for (let count = 0; count < OTHERS; count++) {
    const other = await createInvoice(sidecar);
    await pay(sidecar, other, payer);
    hashes.push(other.payment_hash);
  }
  await until(() => accepted.size === 2 * OTHERS);
  expect(accepted.has(`${stuck.hash} inbound`)).toBe(false);
  // What the receiver has taken and the sidecar has not noted yet would rightly come again after the kill.
  for (const credentials of [undefined, payer]) {
    await until(async () => (await delivered(sidecar, credentials)) === OTHERS, 'all are noted');
  }

  const wallets = twoWallets({
    dataDir: join(folder, 'data'),
    baseUrl: sidecar.baseUrl,
    second: payer,
  });
  for (const wallet of wallets) await expectOneTruth(wallet);
  await sidecar.kill();
  good = true;
  sidecar = await start();
  clock?.set(2 * LEASE_MS);
  await until(async () => {
    // On a busy machine the three attempts were over before the kill.
    for (const wallet of wallets) await deliverEverything(wallet);
    return accepted.size === 2 * (OTHERS + 1);
  });
  expect([...accepted.keys()].toSorted()).toEqual(
    hashes.flatMap((hash) => [`${hash} inbound`, `${hash} outbound`]).toSorted(),
  );
  const ids = [...accepted.values()];
  expect(ids.filter((all) => all.length !== 1 || !all[0]?.startsWith('msg_'))).toEqual([]);
  expect(new Set(ids.flat()).size).toBe(ids.length);
  for (const wallet of wallets) await expectOneTruth(wallet);
  await stopTails(wallets);
  expect(await sidecar.stop()).toBe(0);
  never.resolve(new Response());
  await receiver.stop(true);
}, 120_000);

interface Invoice {
  readonly invoice: string;
  readonly payment_hash: string;
}

async function createInvoice(sidecar: DevSidecar): Promise<Invoice> {
  const created = sidecar.call('POST', '/v2/node/create_invoice', { body: { amount: '3' } });
  return (await created) as Invoice;
}

async function pay(sidecar: DevSidecar, { invoice }: Invoice, credentials: string) {
  await sidecar.call('POST', '/v2/node/pay_invoice', { body: { invoice }, credentials });
}

/** How many deliveries a wallet's log shows as delivered; without credentials the default wallet's. */
async function delivered(sidecar: DevSidecar, credentials?: string): Promise<number> {
  const query = { state: 'delivered', limit: '100' };
  const log = sidecar.call('GET', '/v2/webhooks/deliveries', {
    query,
    ...(credentials === undefined ? {} : { credentials }),
  });
  return ((await log) as { deliveries: unknown[] }).deliveries.length;
}
