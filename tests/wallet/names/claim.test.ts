import { afterEach, expect, test } from 'bun:test';
import { claimUsername, nameOf, zoneText } from '../../../src/wallet/names/claim.ts';
import { nameRecord } from '../../contracts/store/names.ts';
import { fittingOffer } from '../../support/fitting.ts';
import { WALLET } from '../../support/store-steps.ts';
import { unreachable } from '../fake-node.ts';
import { namesWorld } from './names-world.ts';

const { offer: OFFER } = fittingOffer('satoshi@example.com');
const OTHER = 'cd'.repeat(32);

let open: Awaited<ReturnType<typeof namesWorld>> | null = null;
afterEach(async () => {
  await open?.world.close();
  open = null;
});

/** A world whose node has offers; `made` holds the descriptions of those that were made. */
async function withOffers() {
  open = await namesWorld();
  const made: (string | null)[] = [];
  const offers = {
    createOffer: async ({ description }: { description: string | null }) => {
      made.push(description);
      return fittingOffer(description);
    },
  };
  Object.assign(open.fake.node, { offers });
  return { ...open, made };
}

test('on a node with offers a name stands for a watched offer of its own', async () => {
  const { owner, names, store, made } = await withOffers();
  const claimed = await claimUsername(owner, names, 'satoshi');
  expect(claimed).toEqual({
    username: 'satoshi',
    domain: 'example.com',
    offer: OFFER,
    updatable: true,
  });
  expect(made).toEqual(['satoshi@example.com']);
  expect(await store.watches.has(WALLET)).toBe(true);
  expect(await nameOf(owner, names)).toEqual(claimed);
  await claimUsername(owner, names, 'nakamoto');
  expect(made).toEqual(['satoshi@example.com', 'nakamoto@example.com']);
});

test('on a node without offers it stands for none, and has no record to resolve', async () => {
  open = await namesWorld();
  const { owner, names } = open;
  expect((await claimUsername(owner, names, 'satoshi')).offer).toBeNull();
  expect(await zoneText(names, 'satoshi.user._bitcoin-payment.example.com')).toBeNull();
});

test('claims of one wallet at the same time make one offer for each name', async () => {
  const { owner, names, made } = await withOffers();
  const claim = () => claimUsername(owner, names, 'satoshi');
  await Promise.all([claim(), claim(), claim()]);
  expect(made).toHaveLength(1);
});

test('a claim that the rules refuse makes no offer', async () => {
  const { owner, names, store, made } = await withOffers();
  await store.names.claim(OTHER, 'satoshi', () => nameRecord({ walletId: OTHER }));
  const refusal = claimUsername(owner, names, 'satoshi').catch((error) => error);
  expect(await refusal).toMatchObject({ kind: 'refused' });
  expect(made).toEqual([]);
});

test('a name that another wallet gets while the offer is made stays that wallet’s', async () => {
  const { owner, names, store, fake } = await withOffers();
  Object.assign(fake.node, {
    offers: {
      async createOffer() {
        await store.names.claim(OTHER, 'satoshi', () => nameRecord({ walletId: OTHER }));
        return fittingOffer('satoshi@example.com');
      },
    },
  });
  const refusal = claimUsername(owner, names, 'satoshi').catch((error) => error);
  expect(await refusal).toMatchObject({ kind: 'refused' });
  expect((await store.names.find('satoshi'))?.walletId).toBe(OTHER);
});

test('a claim that the node cut off leaves no name, and its repeat goes through', async () => {
  const { owner, names, store, fake } = await withOffers();
  const { offers } = fake.node;
  Object.assign(fake.node, { offers: { createOffer: () => Promise.reject(unreachable()) } });
  const failed = claimUsername(owner, names, 'satoshi').catch((error) => error);
  expect(await failed).toMatchObject({ kind: 'unreachable' });
  expect(await store.names.ofWallet(WALLET)).toBeNull();
  Object.assign(fake.node, { offers });
  expect((await claimUsername(owner, names, 'satoshi')).offer).toBe(OFFER);
});

test('the record of a name is found whatever the letter case and the dot at the end, and no other', async () => {
  const { owner, names } = await withOffers();
  await claimUsername(owner, names, 'satoshi');
  for (const dnsName of [
    'satoshi.user._bitcoin-payment.example.com',
    'SATOSHI.user._bitcoin-payment.Example.com.',
  ]) {
    expect(await zoneText(names, dnsName)).toBe(`bitcoin:?lno=${OFFER}`);
  }
  for (const dnsName of [
    'nobody.user._bitcoin-payment.example.com',
    'satoshi.user._bitcoin-payment.example.org',
    'satoshi.example.com',
    '.user._bitcoin-payment.example.com',
  ]) {
    expect(await zoneText(names, dnsName)).toBeNull();
  }
});

test('where no names are served, both are error 110 that names the node and the flag', async () => {
  open = await namesWorld();
  const { owner } = open;
  for (const asked of [nameOf(owner, null), claimUsername(owner, null, 'satoshi')]) {
    expect(await asked.catch((error) => error)).toMatchObject({
      kind: 'unsupported',
      data: { node: 'sandbox' },
      message: expect.stringContaining('--address-domain'),
    });
  }
});
