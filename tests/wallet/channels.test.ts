import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ApiError } from '../../src/model/errors.ts';
import { periodStart } from '../../src/wallet/budget/budget.ts';
import { createClient } from '../../src/wallet/clients/clients.ts';
import { closeChannel } from '../../src/wallet/pay/channels.ts';
import {
  type EffectNames,
  keyedNames,
  randomNames,
} from '../../src/wallet/session/effect-names.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { WALLET } from '../support/store-steps.ts';
import { CLOSE_FEE_MSAT } from './fake-node.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

const CHANNEL = 'cc'.repeat(32);
const TRUE_FEE_MSAT = 600n;

let world: WalletWorld;
let client: Session;
beforeEach(async () => {
  world = await walletWorld();
  const { wallets, owner } = await world.start();
  const grant = {
    scopes: ['manage_channels' as const],
    permissions: [],
    expiresAtMs: null,
    label: null,
    budget: { amountMsat: 10_000n, period: 'total' as const, maxPaymentMsat: null },
  };
  const { credentials } = await createClient(owner, grant, randomNames);
  client = await wallets.open(credentials);
});
afterEach(() => world.close());

const spentMsat = async () =>
  (await world.store.budgets.get(WALLET, client.caller.id, world.fake.nowMs, periodStart))
    .spentMsat;

const answer = (isNew: boolean) => async () => ({ feeMsat: TRUE_FEE_MSAT, isNew });

/** The names of a request with a key. `effect` is what an earlier run of it stored. */
const named = (effect: object | null = null): EffectNames =>
  keyedNames(
    { walletId: WALLET, caller: client.caller.id, key: 'k' },
    effect && JSON.stringify(effect),
    {
      identity: world.store.identity,
      sealKey: client.caller.sealKey,
      keys: { ...world.store.idempotency, name: async () => undefined },
    },
  );

test('closing a channel costs a budget its fee, once', async () => {
  world.fake.closeChannel = answer(true);
  await closeChannel(client, { channelId: CHANNEL, forced: false }, randomNames);
  expect(await spentMsat()).toBe(TRUE_FEE_MSAT);
  world.fake.closeChannel = answer(false);
  await closeChannel(client, { channelId: CHANNEL, forced: false }, randomNames);
  expect(await spentMsat()).toBe(TRUE_FEE_MSAT);
});

test('closing a channel that the owner has closed costs a budget nothing', async () => {
  world.fake.closeChannel = answer(false);
  await closeChannel(client, { channelId: CHANNEL, forced: false }, randomNames);
  expect(await spentMsat()).toBe(0n);
});

test('a repeat of a request that finds the channel closed counts the fee, since its first run closed it', async () => {
  world.fake.closeChannel = answer(false);
  await closeChannel(
    client,
    { channelId: CHANNEL, forced: false },
    named({ closing: `${CLOSE_FEE_MSAT}` }),
  );
  expect(await spentMsat()).toBe(TRUE_FEE_MSAT);
});

test('a repeat of a request that finds no such channel counts the estimated fee', async () => {
  world.fake.closeChannel = () => Promise.reject(new ApiError('notFound', 'Channel not found'));
  await closeChannel(
    client,
    { channelId: CHANNEL, forced: false },
    named({ closing: `${CLOSE_FEE_MSAT}` }),
  );
  expect(await spentMsat()).toBe(CLOSE_FEE_MSAT);
});
