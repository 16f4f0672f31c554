import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { LND_LOCK_ID } from '../../../src/nodes/lnd/reads/coin-locks.ts';
import type { OpenChannelCommand } from '../../../src/nodes/node.ts';
import { type FakeLnd, startFakeLnd } from '../../hostile/fake-lnd.ts';
import { memoryState } from '../../support/memory-state.ts';
import { rejection } from '../../support/rejection.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { channelsOf, onchainOf, sendCommand, walletOnFake } from './wallet-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** A channel is opened once for its user channel id, also by a process that takes over (docs/decisions.md 31). */

const OPEN = '/lnrpc.Lightning/OpenChannelSync';
const order: OpenChannelCommand = {
  valueMsat: 400_000_000n,
  userChannelId: 'e7'.repeat(16),
  peer: null,
  maxFeeMsat: null,
};

let fake: FakeLnd;
afterEach(() => fake?.stop());

/** A fake with coins of these values. `held` decides when the first request to open goes on. */
async function start(
  coinsSat: readonly bigint[],
  held: (asked: readonly string[]) => Promise<void> = async () => undefined,
): Promise<void> {
  let opens = 0;
  fake = await startFakeLnd({
    onchainSat: 0n,
    channelSat: 0n,
    hooks: {
      async intercept({ rpc, body }) {
        if (rpc === OPEN && opens++ === 0) {
          const { outpoints } = JSON.parse(body) as {
            outpoints: { txid_str: string; output_index: number }[];
          };
          await held(outpoints.map((one) => `${one.txid_str}:${one.output_index}`));
        }
        return false;
      },
    },
  });
  for (const coinSat of coinsSat) fake.wallet.receive(coinSat);
}
const asked = () => fake.received.filter(({ rpc }) => rpc === OPEN).length;
const lock = (outpoint: string, id = LND_LOCK_ID) =>
  fake.wallet.leases.set(outpoint, { id, expiresMs: Date.now() + 600_000 });

test('a request that LND talks about with the peer is waited for by the process that takes over', async () => {
  const talks = Promise.withResolvers<void>();
  await start([1_000_000n, 900_000n], async (coins) => {
    for (const coin of coins) lock(coin);
    await talks.promise;
    for (const coin of coins) fake.wallet.leases.delete(coin);
  });
  const state = memoryState();
  const first = channelsOf(await walletOnFake(fake, fake, { state })).openChannel(order);
  await until(() => asked() === 1, 'LND is asked');
  const second = channelsOf(await walletOnFake(fake, fake, { state })).openChannel(order);
  setTimeout(talks.resolve, 600);
  const { channelId } = await first;
  expect(await second).toMatchObject({ channelId, isNew: false });
  expect(fake.channels.list()).toHaveLength(1);
  expect(asked()).toBe(1);
});

test('a request that arrives after the next process has opened the channel is refused by LND', async () => {
  const late = Promise.withResolvers<void>();
  await start([1_000_000n], () => late.promise);
  const state = memoryState();
  const first = channelsOf(await walletOnFake(fake, fake, { state })).openChannel(order);
  await until(() => asked() === 1, 'LND is asked');
  // By now another coin would be the one to choose.
  fake.wallet.receive(5_000_000n);
  const { channelId } = await channelsOf(await walletOnFake(fake, fake, { state })).openChannel(
    order,
  );
  late.resolve();
  expect((await first).channelId).toBe(channelId);
  expect(fake.channels.list()).toHaveLength(1);
});

test('a request that LND refuses because the one before it came first finds that channel', async () => {
  const early = Promise.withResolvers<void>();
  const state = memoryState();
  let opens = 0;
  fake = await startFakeLnd({
    onchainSat: 0n,
    channelSat: 0n,
    hooks: {
      async intercept({ rpc }) {
        if (rpc !== OPEN) return false;
        // The second request arrives first, and LND begins with the one before it.
        if (++opens === 2) {
          const [coin] = fake.wallet.coins();
          lock(coin?.outpoint ?? '');
          setTimeout(() => {
            fake.wallet.leases.clear();
            early.resolve();
          }, 600);
        } else {
          await early.promise;
        }
        return false;
      },
    },
  });
  fake.wallet.receive(1_000_000n);
  const first = channelsOf(await walletOnFake(fake, fake, { state })).openChannel(order);
  await until(() => asked() === 1, 'LND is asked');
  const second = channelsOf(await walletOnFake(fake, fake, { state })).openChannel(order);
  const { channelId } = await first;
  expect(await second).toMatchObject({ channelId, isNew: false });
  expect(fake.channels.list()).toHaveLength(1);
});

test('while LND holds the coin for longer, nothing is opened and the outcome is unknown', async () => {
  const lost = Promise.withResolvers<void>();
  await start([1_000_000n, 900_000n], async (coins) => {
    for (const coin of coins) lock(coin);
    await lost.promise;
  });
  const state = memoryState();
  const first = channelsOf(await walletOnFake(fake, fake, { state })).openChannel(order);
  first.catch(() => undefined);
  await until(() => asked() === 1, 'LND is asked');
  let nowMs = 0;
  const elapsedMs = () => (nowMs += 4_000);
  const next = channelsOf(await walletOnFake(fake, fake, { state, elapsedMs }));
  expect(await rejection(next.openChannel(order))).toMatchObject({
    kind: 'timeout',
    outcomeUnknown: true,
  });
  expect(await rejection(next.openChannel({ ...order, valueMsat: 300_000_000n }))).toMatchObject({
    kind: 'refused',
  });
  expect(asked()).toBe(1);
  lost.resolve();
  await first.catch(() => undefined);
});

test('a coin that another transaction has spent excludes every earlier request, and others are chosen', async () => {
  const lost = Promise.withResolvers<void>();
  await start([1_000_000n], () => lost.promise);
  const state = memoryState();
  const first = channelsOf(await walletOnFake(fake, fake, { state })).openChannel(order);
  first.catch(() => undefined);
  await until(() => asked() === 1, 'LND is asked');
  const node = await walletOnFake(fake, fake, { state });
  const send = sendCommand(500_000n);
  await onchainOf(node).publish(send, await onchainOf(node).sign(send));
  fake.wallet.receive(700_000n);
  const { channelId } = await channelsOf(node).openChannel(order);
  lost.resolve();
  expect((await first).channelId).toBe(channelId);
  expect(fake.channels.list()).toHaveLength(1);
});

test('a refusal of the first request leaves the next one free in its choice', async () => {
  await start([1_000_000n, 900_000n]);
  const state = memoryState();
  const channels = channelsOf(await walletOnFake(fake, fake, { state }));
  const tiny = { ...order, valueMsat: 1_000_000n };
  expect(await rejection(channels.openChannel(tiny))).toMatchObject({ outcomeUnknown: false });
  const [largest] = fake.wallet.coins().toSorted((a, b) => Number(b.valueSat - a.valueSat));
  lock(largest?.outpoint ?? '');
  expect(await channels.openChannel(order)).toMatchObject({ isNew: true });
});

test('a refusal of a repeat says nothing of the request before it', async () => {
  const lost = Promise.withResolvers<void>();
  await start([1_000_000n], () => lost.promise);
  const state = memoryState();
  const tiny = { ...order, valueMsat: 1_000_000n };
  const first = channelsOf(await walletOnFake(fake, fake, { state })).openChannel(tiny);
  first.catch(() => undefined);
  await until(() => asked() === 1, 'LND is asked');
  const next = channelsOf(await walletOnFake(fake, fake, { state }));
  expect(await rejection(next.openChannel(tiny))).toMatchObject({
    outcomeUnknown: true,
    message: expect.stringContaining('too small'),
  });
  lost.resolve();
  await first.catch(() => undefined);
});

test('an error of LND leaves a channel unknown, unless it names a reason from before the funding', async () => {
  let error = { code: 2, message: '' };
  fake = await startFakeLnd({
    onchainSat: 0n,
    channelSat: 0n,
    hooks: {
      intercept({ rpc }, response) {
        if (rpc !== OPEN) return false;
        response.writeHead(500, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ ...error, details: [] }));
        return true;
      },
    },
  });
  fake.wallet.receive(1_000_000n);
  const wallet = await walletOnFake(fake, fake, { state: memoryState() });
  const fails = async (code: number, message: string, outcomeUnknown: boolean) => {
    error = { code, message };
    const refusal = await rejection(channelsOf(wallet).openChannel(order));
    expect(refusal).toMatchObject({ outcomeUnknown });
  };
  await fails(2, 'reserved wallet balance invalidated: transaction would leave too little', false);
  await fails(2, 'EOF', true);
  // What LND says of a repeat says nothing of the request before it.
  await fails(2, 'reserved wallet balance invalidated: transaction would leave too little', true);
});
