import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import type { PaymentJson } from '../../src/model/payment.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { randomFrom } from '../support/random.ts';
import { CallFailed } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { expectNothingLost, stopTails, totalSats, twoWallets } from './checks.ts';
import { unreliableReceiver } from './receiver.ts';
import { ROUNDS, SEED } from './seed.ts';
import { expectOneTruth, walked } from './truth.ts';

setDefaultTimeout(SLOW_TEST_MS);

const SATS = 7;
/** How many keys are repeated after a kill. A short run repeats all of them. */
const REPEATED = 1000;
/** Names of the clients with a budget, which pay at the same time. */
const WORKERS = ['a', 'b', 'c', 'd'];
const PORT = freePort();

const folder = temporaryFolder('kill');
afterAll(() => removeFolder(folder));

test(
  `killed ${ROUNDS} times under load (seed ${SEED}): every key has its one payment, budgets are true, no notice is lost or invented, no money is made or lost`,
  async () => {
    const random = randomFrom(SEED);
    const receiver = unreliableReceiver(random);
    const start = () =>
      startDevSidecar({
        dataDir: join(folder, 'data'),
        port: PORT,
        webhookUrl: receiver.url,
        env: receiver.env,
      });
    let sidecar = await start();
    const { client_credentials: second } = (await sidecar.call('POST', '/sandbox/wallets', {
      body: {},
    })) as { client_credentials: string };
    const total = await totalSats(sidecar, second);
    const wallets = twoWallets({
      dataDir: join(folder, 'data'),
      baseUrl: sidecar.baseUrl,
      second,
    });
    const payers = await Promise.all(WORKERS.map((name) => openPayer(sidecar, second, name)));

    const keys = new Map<string, Key>();
    const outcomes = new Map<string, PaymentJson>();
    for (let round = 0; round < ROUNDS; round++) {
      const load = Promise.allSettled(
        payers.map((payer) => keepPaying(sidecar, payer, { prefix: `${round}`, keys })),
      );
      await Bun.sleep(20 + Math.floor(random() * 250));
      await sidecar.kill();
      const answered = (await load).filter(
        (end) => end.status === 'rejected' && end.reason instanceof CallFailed,
      );
      expect(answered).toEqual([]);
      sidecar = await start();
      await repeat(sidecar, someOf([...keys.values()], random), outcomes);
      for (const payer of payers) await expectSpent(sidecar, payer, keys.values());
      for (const wallet of wallets) await expectOneTruth(wallet);
    }

    await repeat(sidecar, [...keys.values()], outcomes);
    const paid = [...outcomes.values()].map(({ index }) => index);
    expect(new Set(paid).size).toBe(paid.length);
    const sent = (await walked({ baseUrl: sidecar.baseUrl, credentials: second })).filter(
      ({ direction }) => direction === 'outbound',
    );
    expect(sent.map(({ index }) => index)).toEqual(paid.toSorted());
    console.log(`Random kills: ${ROUNDS}; keys: ${2 * keys.size}, all with one effect.`);

    receiver.behave();
    expect(await totalSats(sidecar, second)).toBe(total);
    await expectNothingLost(wallets, receiver);
    await stopTails(wallets);
    await sidecar.stop();
    await receiver.stop();
  },
  3 * 60 * 60_000,
);

interface Payer {
  readonly name: string;
  readonly credentials: string;
}

/** An Idempotency-Key by which the first wallet created an invoice and a client of the second wallet paid it. */
interface Key {
  readonly key: string;
  readonly payer: Payer;
}

async function openPayer(sidecar: DevSidecar, credentials: string, name: string): Promise<Payer> {
  const created = (await sidecar.call('POST', '/v2/node/create_client', {
    body: { label: name, scopes: ['full'], budget: { amount: '100000', period: 'total' } },
    credentials,
  })) as { client_credentials: string };
  return { name, credentials: created.client_credentials };
}

/** Pays one invoice after another until the sidecar is killed. */
async function keepPaying(
  sidecar: DevSidecar,
  payer: Payer,
  { prefix, keys }: { readonly prefix: string; readonly keys: Map<string, Key> },
): Promise<void> {
  for (let turn = 0; ; turn++) {
    const key = `${SEED}-${prefix}-${payer.name}-${turn}`;
    keys.set(key, { key, payer });
    await payOnce(sidecar, { key, payer });
  }
}

/** Both requests with the key: whatever was done of them before is found. */
async function payOnce(sidecar: DevSidecar, { key, payer }: Key): Promise<PaymentJson> {
  const headers = { 'idempotency-key': key };
  const { invoice } = (await sidecar.call('POST', '/v2/node/create_invoice', {
    body: { amount: `${SATS}` },
    headers,
  })) as { invoice: string };
  return (await sidecar.call('POST', '/v2/node/pay_invoice', {
    body: { invoice },
    headers,
    credentials: payer.credentials,
  })) as PaymentJson;
}

/** The newest keys, and a random choice of the older ones when there are many. */
function someOf(keys: readonly Key[], random: () => number): Key[] {
  const older = keys.slice(0, -REPEATED);
  const drawn = older.filter(() => random() < REPEATED / older.length);
  return [...drawn, ...keys.slice(-REPEATED)];
}

/** Repeats the requests of the keys. Checks that each has its earlier outcome, which GET shows too. */
async function repeat(
  sidecar: DevSidecar,
  keys: readonly Key[],
  outcomes: Map<string, PaymentJson>,
): Promise<void> {
  const rest = [...keys];
  const one = async () => {
    for (let key = rest.pop(); key; key = rest.pop()) {
      const paid = await payOnce(sidecar, key);
      const earlier = outcomes.get(key.key);
      if (earlier) expect(paid).toEqual(earlier);
      else await expectShown(sidecar, key.payer, paid);
      outcomes.set(key.key, paid);
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
}

async function expectShown(sidecar: DevSidecar, { credentials }: Payer, paid: PaymentJson) {
  const query = { index: paid.index };
  expect(paid.status).toBe('completed');
  expect(await sidecar.call('GET', '/v2/node/payment', { query, credentials })).toEqual(paid);
}

async function expectSpent(
  sidecar: DevSidecar,
  { name, credentials }: Payer,
  keys: Iterable<Key>,
): Promise<void> {
  const { budget } = (await sidecar.call('GET', '/v2/node/client_info', { credentials })) as {
    budget: { spent: string };
  };
  const payments = [...keys].filter(({ payer }) => payer.name === name).length;
  expect(Number(budget.spent)).toBe(SATS * payments);
}
