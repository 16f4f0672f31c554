import { expect, setDefaultTimeout, test } from 'bun:test';
import { type AddressInfo, createServer } from 'node:net';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { sampleDone } from '../support/sample-payment.ts';
import { rules, WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { dispatchWorld } from './dispatch-world.ts';

const { cleanups, start } = dispatchWorld();

setDefaultTimeout(SLOW_TEST_MS);

const DUE = 3000;
const OFFER = 'cd'.repeat(32);
/** The dispatcher's limit of attempts in progress. */
const MOST = 256;

test(`${DUE} due deliveries and a receiver that hangs hold ${MOST} connections, and no other request waits for them`, async () => {
  const store = await storeWithDue();
  const receiver = await hangingReceiver();
  start(() => new Response(), receiver.url, { store, attemptLimitMs: 60_000 });
  await until(() => receiver.open() === MOST);
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('here') });
  cleanups.push(() => other.stop(true));
  const answer = await fetch(other.url, { signal: AbortSignal.timeout(20_000) });
  expect(await answer.text()).toBe('here');
  expect(receiver.most()).toBe(MOST);
  expect(await store.outbox.counts()).toEqual({
    pending: DUE,
    delivered: 0,
    failed: 0,
    canceled: 0,
  });
}, 60_000);

test(`${DUE} due deliveries and a receiver that is dead are all given up, ${MOST} at most at a time`, async () => {
  const store = await storeWithDue();
  const receiver = await hangingReceiver();
  const world = start(() => new Response(), receiver.url, { store, attemptLimitMs: 20 });
  await until(
    async () => {
      world.clock.advance(10_000);
      world.dispatcher.wake();
      return (await store.outbox.counts()).failed === DUE;
    },
    'all are given up',
    200_000,
  );
  expect(receiver.most()).toBeLessThanOrEqual(2 * MOST);
  expect(await world.attempts()).toEqual({ timeout: 3 * DUE });
  await until(() => receiver.open() === 0);
}, 240_000);

/** A store with deliveries that are due, of payments that arrived on one offer. */
async function storeWithDue() {
  const store = openSqliteStore(':memory:');
  await store.watches.add(WALLET, { kind: 'offer', offerId: OFFER });
  const observations = Array.from({ length: DUE }, (_, at) => ({
    payment: sampleDone(at + 1, { offerId: OFFER, direction: 'inbound' as const }),
    attempt: null,
  }));
  const batch = { observations, cursor: null, journaled: false, nowMs: 1000 };
  expect((await store.observations.apply(WALLET, batch, rules)).deliveries).toBe(DUE);
  return store;
}

/** A server that accepts connections and never answers. */
async function hangingReceiver() {
  let [open, most] = [0, 0];
  const server = createServer((socket) => {
    open++;
    most = Math.max(most, open);
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.on('close', () => open--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1024, resolve));
  cleanups.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, open: () => open, most: () => most };
}
