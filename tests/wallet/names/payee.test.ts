import { afterEach, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { ApiError, refused } from '../../../src/model/errors.ts';
import { claimUsername } from '../../../src/wallet/names/claim.ts';
import { payeeInvoice, payeeTerms } from '../../../src/wallet/names/payee.ts';
import { WALLET } from '../../support/store-steps.ts';
import { unreachable } from '../fake-node.ts';
import { made, namesWorld } from './names-world.ts';

type World = Awaited<ReturnType<typeof namesWorld>>;

let open: World | null = null;
afterEach(async () => {
  await open?.world.close();
  open = null;
});

async function named(): Promise<World> {
  open = await namesWorld();
  await claimUsername(open.owner, open.names, 'satoshi');
  return open;
}

let sources = 0;
/** Asks as a payer at an address of its own. */
const ask = ({ names }: World, amount = '5000', comment?: string) =>
  payeeInvoice(names, 'satoshi', { amount, comment, source: `source ${++sources}` });
const isError = (reason: RegExp) => ({ status: 'ERROR', reason: expect.stringMatching(reason) });

test('the invoice is watched and in the journal before the payer has it, with the comment as its message', async () => {
  const names = await named();
  const { pr } = (await ask(names, '5000', 'tea')) ?? {};
  const [payment] = await names.store.journal.open(WALLET);
  expect(payment).toMatchObject({
    hash: decodeBolt11(String(pr)).paymentHash,
    amountMsat: 5000n,
    message: 'tea',
  });
  expect(await names.store.watches.has(WALLET)).toBe(true);
});

test('the invoice commits to the metadata of the terms, whose text the node gets too (LUD-06)', async () => {
  const world = await named();
  await ask(world);
  const [order] = world.ordered;
  const terms = await payeeTerms(world.names, 'satoshi', { source: 'one' });
  const text = String(terms?.metadata);
  const hash = createHash('sha256').update(text).digest('hex');
  expect(order?.descriptionHash).toEqual({ hash, text });
});

test('nothing of the wallet or its node is told when the node fails; the log says it', async () => {
  const world = await named();
  for (const [error, reason] of [
    [unreachable(), /cannot be reached now/],
    [new ApiError('forbidden', 'secret of the node'), /cannot be reached now/],
    [new Error('secret of the node'), /cannot be reached now/],
    [refused('secret of the node'), /cannot take this payment/],
  ] as const) {
    world.node.createInvoice = () => Promise.reject(error);
    const answer = await ask(world);
    expect(answer).toEqual(isError(reason));
    expect(JSON.stringify(answer)).not.toContain('secret');
  }
  expect(world.logged).toHaveLength(4);
});

test('an invoice that was not made takes no place', async () => {
  const world = await named();
  world.node.createInvoice = () => Promise.reject(unreachable());
  for (let round = 0; round < 120; round++) await ask(world);
  world.node.createInvoice = async (command) => made(command);
  expect(await ask(world)).toHaveProperty('pr');
});

test('a name has 100 unpaid invoices at most, from however many sources; beyond it the node is not asked', async () => {
  const world = await named();
  for (let round = 0; round < 100; round++) expect(await ask(world)).toHaveProperty('pr');
  expect(await ask(world)).toEqual(isError(/too many unpaid invoices/));
  expect(world.ordered).toHaveLength(100);
  world.fake.nowMs += 600_000;
  expect(await ask(world)).toHaveProperty('pr');
});

test('invoices of a name are asked for 300 times at once and then 10 times a second, from however many sources', async () => {
  const world = await named();
  const reasons = new Set<unknown>();
  for (let round = 0; round < 301; round++) reasons.add((await ask(world))?.reason);
  expect([...reasons].at(-1)).toMatch(/^Too many requests/);
  world.world.elapsedMs += 100;
  world.fake.nowMs += 600_000;
  expect(await ask(world)).toHaveProperty('pr');
  expect(await ask(world)).toEqual(isError(/^Too many requests/));
});

test('a source has 60 requests at once and then one a second, of both calls together', async () => {
  const world = await named();
  const terms = () => payeeTerms(world.names, 'satoshi', { source: 'one' });
  for (let round = 0; round < 60; round++) expect(await terms()).toHaveProperty('tag');
  const tooMany = isError(/^Too many requests/);
  expect(await terms()).toEqual(tooMany);
  expect(await payeeInvoice(world.names, 'satoshi', { amount: '5000', source: 'one' })).toEqual(
    tooMany,
  );
  expect(await payeeTerms(world.names, 'satoshi', { source: 'two' })).toHaveProperty('tag');
  world.world.elapsedMs += 1000;
  expect(await terms()).toHaveProperty('tag');
  expect(await terms()).toEqual(tooMany);
});

test('a name that nobody has is null, also where it was given up', async () => {
  const world = await named();
  await claimUsername(world.owner, world.names, 'nakamoto');
  expect(await ask(world)).toBeNull();
  expect(await payeeTerms(world.names, 'satoshi', { source: 'one' })).toBeNull();
  expect(await payeeTerms(world.names, 'nakamoto', { source: 'one' })).toHaveProperty('tag');
});

test('the database holds nothing from which the address of a payer can be read', async () => {
  const { names } = await named();
  expect(names.sourceTag('198.51.100.1')).toMatch(/^[\w-]{43}$/);
  expect(names.sourceTag('198.51.100.1')).toBe(names.sourceTag('198.51.100.1'));
  expect(names.sourceTag('198.51.100.2')).not.toBe(names.sourceTag('198.51.100.1'));
});
