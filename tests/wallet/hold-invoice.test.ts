import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { ApiError } from '../../src/model/errors.ts';
import type { CreateHoldInvoiceCommand } from '../../src/nodes/node.ts';
import { createClient } from '../../src/wallet/clients/clients.ts';
import type { Wallets } from '../../src/wallet/open/wallets.ts';
import { createHoldInvoice } from '../../src/wallet/receive/hold-invoice.ts';
import { type EffectNames, randomNames } from '../../src/wallet/session/effect-names.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { fittingInvoice } from '../support/fitting.ts';
import { rejection } from '../support/rejection.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { WALLET } from '../support/store-steps.ts';
import { unreachable } from './fake-node.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

let world: WalletWorld;
let wallets: Wallets;
let owner: Session;
beforeEach(async () => {
  world = await walletWorld();
  ({ wallets, owner } = await world.start());
});
afterEach(() => world.close());

const paymentHash = samplePayment(1).hash ?? '';
const REQUEST = {
  paymentHash,
  expirationSecs: 3600,
  amountMsat: 1000n,
  description: null,
  descriptionHash: null,
  personalNote: null,
  externalId: null,
  partnerPk: null,
  partnerPropFeePpm: null,
  partnerBaseFeeMsat: null,
};
const { createdAtMs } = samplePayment(1);
const MADE = fittingInvoice({ ...REQUEST, createdAtMs }, paymentHash);

/** Names of a key whose row keeps what is named, as in the store. */
function keyNames(): EffectNames {
  const kept = new Map<string, string>();
  return {
    ...randomNames,
    isKeyed: true,
    earlier: (purpose) => kept.get(purpose) ?? null,
    async kept(purpose, draw) {
      const value = kept.get(purpose) ?? (await draw());
      kept.set(purpose, value);
      return value;
    },
  };
}

test('the hash is in the row of the key before the node is asked, and a repeat takes what was made', async () => {
  const names = keyNames();
  const asked: CreateHoldInvoiceCommand[] = [];
  world.fake.createHold = async (command) => {
    expect(names.earlier('hold invoice')).toBe(paymentHash);
    asked.push(command);
    if (asked.length === 1) throw unreachable();
    return MADE;
  };
  expect(await rejection(createHoldInvoice(owner, REQUEST, names))).toMatchObject({
    kind: 'unreachable',
  });
  expect(await createHoldInvoice(owner, REQUEST, names)).toMatchObject({ invoice: MADE.invoice });
  expect(asked.map(({ again }) => again)).toEqual([false, true]);
});

test('the watches for its end and for being held are stored before it is told', async () => {
  world.fake.createHold = async () => MADE;
  await createHoldInvoice(owner, REQUEST, randomNames);
  const held = { ...MADE.payment, statusMsg: 'held' };
  const { index } = MADE.payment;
  await owner.feed.record({ payment: held, attempt: null }, owner.node);
  expect(await world.store.journal.get(WALLET, index)).toMatchObject({ statusMsg: 'held' });
  expect(await world.store.watches.has(WALLET)).toBe(true);
});

test('a hash that the wallet has a payment of is refused, and the node is not asked', async () => {
  world.fake.createHold = async () => MADE;
  await createHoldInvoice(owner, REQUEST, randomNames);
  world.fake.createHold = () => Promise.reject(new Error('this was not to be called'));
  expect(await rejection(createHoldInvoice(owner, REQUEST, keyNames()))).toMatchObject({
    kind: 'refused',
  });
});

test("a client's token that does not allow hold invoices yet is replaced, once", async () => {
  const grant = { scopes: ['receive'], permissions: [] } as const;
  const { client, credentials } = await createClient(
    owner,
    { ...grant, expiresAtMs: null, label: null, budget: null },
    randomNames,
  );
  const session = await wallets.open(credentials);
  const first = (await world.store.clients.find(client.clientPk))?.token?.id ?? '';
  let calls = 0;
  world.fake.createHold = async () => {
    calls++;
    if (world.fake.living.has(first)) throw new ApiError('forbidden', 'not allowed');
    return MADE;
  };
  expect(await createHoldInvoice(session, REQUEST, randomNames)).toMatchObject({
    payment_hash: paymentHash,
  });
  expect(calls).toBe(2);
  const renewed = (await world.store.clients.find(client.clientPk))?.token;
  expect([...world.fake.living]).toEqual([renewed?.id ?? '']);
  expect(renewed?.id).not.toBe(first);
  // A node that still refuses is believed.
  world.fake.createHold = () => Promise.reject(new ApiError('forbidden', 'not allowed'));
  const other = createHash('sha256').update('other').digest('hex');
  const again = createHoldInvoice(session, { ...REQUEST, paymentHash: other }, randomNames);
  expect(await rejection(again)).toMatchObject({ kind: 'forbidden' });
  expect(
    await rejection(createHoldInvoice(owner, { ...REQUEST, paymentHash: other }, randomNames)),
  ).toMatchObject({ kind: 'forbidden' });
});

test("a client's token that two calls at once are not allowed with is replaced once", async () => {
  const grant = { scopes: ['receive'], permissions: [] } as const;
  const { client, credentials } = await createClient(
    owner,
    { ...grant, expiresAtMs: null, label: null, budget: null },
    randomNames,
  );
  const session = await wallets.open(credentials);
  const first = (await world.store.clients.find(client.clientPk))?.token?.id ?? '';
  const both = Promise.withResolvers<void>();
  let calls = 0;
  world.fake.createHold = async (command) => {
    const isFirstToken = world.fake.living.has(first);
    if (++calls === 2) both.resolve();
    await both.promise;
    if (isFirstToken) throw new ApiError('forbidden', 'not allowed');
    return fittingInvoice(command, command.paymentHash);
  };
  const other = createHash('sha256').update('other').digest('hex');
  const made = await Promise.all([
    createHoldInvoice(session, REQUEST, randomNames),
    createHoldInvoice(session, { ...REQUEST, paymentHash: other }, randomNames),
  ]);
  expect(made.map(({ payment_hash }) => payment_hash)).toEqual([paymentHash, other]);
  expect(calls).toBe(4);
  // One token was made with the client, and one in its place.
  expect(world.fake.issued).toHaveLength(2);
});
