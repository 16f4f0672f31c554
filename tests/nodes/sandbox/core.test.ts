import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { bytesToHex } from '@noble/hashes/utils.js';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { idOf } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { keysOfSeed } from '../../../src/nodes/sandbox/world/keys.ts';
import { publishReleases, trustedReleases } from '../../../src/nodes/sandbox/world/releases.ts';
import { invoiceCommand } from '../../contracts/node/steps.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { throwing } from '../../support/rejection.ts';
import { openTrialSandbox } from '../../support/trial-sandbox.ts';
import { until } from '../../support/until.ts';
import { updatesOptions } from '../../support/updates-options.ts';

const folder = temporaryFolder('core');
afterAll(() => removeFolder(folder));

const open = (path: string) => openTrialSandbox(path, { now: () => Date.now() });

describe('derivation from the root seed never changes', () => {
  const vectors = [
    {
      seed: new Uint8Array(32),
      userPk: '61ab238255ef2b528388ec7305855ac05a7c03acf75fd6b8b2e046e1cac41452',
      nodePk: '0204af6722d7f0583d0c2ca3d9215f08d7b0c9f17ce5b961492371b315e3bd8137',
      onchain: 'a5a40769147fbad0d79f8f0901463d9475b297130e6deee3101f71cd589eee6f',
    },
    {
      seed: new Uint8Array(32).fill(0xa1),
      userPk: '93855f2c59e889152f2db7f62b84f09b467b2f5ade53e166ebd7c43cce06809e',
      nodePk: '024206c4d07eb92a0d87728861e03d59db219852bc61fe04854ca50cde853b390f',
      onchain: 'f6bed98194635839119a0d6b3679dc6c35a24fc42c72b4b856495baf92e3bef7',
    },
  ];
  for (const { seed, userPk, nodePk, onchain } of vectors) {
    test(`seed ${bytesToHex(seed).slice(0, 8)}…`, () => {
      const keys = keysOfSeed(seed);
      expect(keys.userPk).toBe(userPk);
      expect(keys.nodePk).toBe(nodePk);
      expect(bytesToHex(keys.onchainAccountKey)).toBe(onchain);
    });
  }
});

describe('releases', () => {
  const list = publishReleases([{ version: '1.0.0', measurement: 'ab'.repeat(32) }]);

  test('a list signed by the publisher is trusted', () => {
    expect(trustedReleases(list)).toEqual([{ version: '1.0.0', measurement: 'ab'.repeat(32) }]);
  });

  test('a changed list, and one without a good signature, are refused', () => {
    for (const bad of [
      { ...list, text: list.text.replace('1.0.0', '6.6.6') },
      { ...list, signature: '00'.repeat(64) },
      { ...list, signature: 'zz' },
    ]) {
      expect(() => trustedReleases(bad)).toThrow(/not signed by its publisher/);
    }
  });
});

test('before signup every operation says what to do', async () => {
  const sandbox = open(':memory:');
  expect(await throwing(sandbox.connector.connectRoot(new Uint8Array(32)))).toThrow(/signup first/);
  expect(await throwing(sandbox.connector.provision(new Uint8Array(32)))).toThrow(/signup first/);
  await sandbox.connector.close();
});

test('the feed gives what was before and what comes, with no gap, while payments are made all along', async () => {
  const sandbox = open(':memory:');
  const wallet = await sandbox.controls.createWallet();
  const stop = new AbortController();
  const { node } = await sandbox.connector.connectRoot(Buffer.from(wallet.rootSeed, 'hex'));
  const seen = new Set<string>();
  const reading = (async () => {
    for await (const { observations } of node.updates(updatesOptions({ signal: stop.signal }))) {
      for (const { payment } of observations) seen.add(`${idOf(payment)} ${payment.status}`);
    }
  })();
  const made: string[] = [];
  for (let count = 0; count < 40; count++) {
    const payment = await sandbox.controls.fund(wallet.userPk, {
      amountMsat: 1000n,
      rail: 'lightning',
    });
    made.push(`${idOf(payment)} completed`);
    if (count % 7 === 0) await Bun.sleep(0);
  }
  await until(() => made.every((one) => seen.has(one)), 'the feed gave every payment');
  stop.abort();
  await reading;
  expect(made.filter((one) => !seen.has(one))).toEqual([]);
  await sandbox.connector.close();
});

test('whatever the node answers, refuses or tells its feed is in the file by then', async () => {
  const path = join(folder, 'durable.sqlite');
  const sandbox = open(path);
  const file = new Database(path, { readonly: true });
  const inFile = (index: string) =>
    file.query<{ status: string }, [string]>('SELECT status FROM payments WHERE idx = ?').get(index)
      ?.status;
  const stop = new AbortController();
  const wallet = await sandbox.controls.createWallet();
  const { node } = await sandbox.connector.connectRoot(Buffer.from(wallet.rootSeed, 'hex'));
  const create = () =>
    node.createInvoice(
      invoiceCommand(node, { expirationSecs: 600, amountMsat: 1_000n, description: null }),
    );
  const told: (string | undefined)[][] = [];
  const reading = (async () => {
    for await (const { observations } of node.updates(updatesOptions({ signal: stop.signal }))) {
      for (const { payment } of observations) {
        told.push([payment.status, inFile(payment.index)]);
      }
    }
  })();
  for (let round = 0; round < 10; round++) {
    const [{ payment, invoice }] = await Promise.all([create(), create()]);
    expect(inFile(payment.index)).toBe('pending');
    const pay = () =>
      sandbox.controls
        .pay({ payable: invoice, amountMsat: null, message: null, payerName: null })
        .catch(() => null)
        .then(() => inFile(payment.index));
    const look = () =>
      node.payment(payment.index).then((seen) => [seen?.payment.status, inFile(payment.index)]);
    const [paid, refusedAgain, [seen, kept]] = await Promise.all([pay(), pay(), look()]);
    expect([paid, refusedAgain, seen, kept]).toEqual(Array(4).fill('completed'));
  }
  await until(() => told.length > 20, 'the feed told of most payments');
  stop.abort();
  await reading;
  expect(told.length).toBeGreaterThan(20);
  // The file may be ahead of what was told, but never behind it.
  expect(told.filter(([status, kept]) => kept !== status && kept !== 'completed')).toEqual([]);
  file.close();
  await sandbox.connector.close();
});

test('a payment that was on its way when the process ended is finished at the next start, and no money is lost', async () => {
  const path = join(folder, 'world.sqlite');
  const first = open(path);
  const wallet = await first.controls.createWallet();
  const seed = Buffer.from(wallet.rootSeed, 'hex');
  const { node } = await first.connector.connectRoot(seed);
  const before = await node.info();
  const { invoice, paymentHash } = await first.controls.createInvoice({
    amountMsat: 5_000_000n,
    description: null,
    expirationSecs: 600,
    behavior: 'settle',
  });
  const index = paymentIndex(Date.now(), paymentId('ln', paymentHash));
  const pending = node.payInvoice({
    index,
    createdAtMs: Date.now(),
    amountMsat: 5_000_000n,
    maxFeeMsat: 100_000n,
    invoice: decodeBolt11(invoice),
    personalNote: null,
    externalId: null,
    message: null,
  });
  // The first transaction has committed; closing now prevents the second.
  await first.connector.close();
  expect(await pending).toMatchObject({ state: 'known', payment: { status: 'pending' } });
  const second = open(path);
  const { node: again } = await second.connector.connectRoot(seed);
  expect(await again.payment(index)).toMatchObject({
    payment: { status: 'completed', amountMsat: 5_000_000n },
    attempt: null,
  });
  const after = await again.info();
  expect(before.lightningBalanceMsat - after.lightningBalanceMsat).toBe(5_000_000n + 6_000n);
  await second.connector.close();
});
