import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { nextDueAt } from '../support/delivery-steps.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { dispatchWorld, WALLET } from './dispatch-world.ts';

const { cleanups, start } = dispatchWorld();

setDefaultTimeout(SLOW_TEST_MS);

/** The limit of an attempt that is to reach it, and long enough for the connection before. */
const SHORT_LIMIT = { attemptLimitMs: 2000 };

describe('deliveries', () => {
  test('a receiver that answers 200 gets the payload once, with a stable id', async () => {
    const received: string[] = [];
    const { deliver, settled } = start((request) => {
      received.push(request.headers.get('webhook-id') ?? '');
      return new Response(null, { status: 200 });
    });
    const id = await deliver(1);
    expect(await settled(id)).toMatchObject({ state: 'delivered', attempts: 1, last_error: null });
    expect(received).toEqual([id]);
  });

  test('three failed attempts leave a delivery failed, with the same id each time', async () => {
    const received: string[] = [];
    const { deliver, settled, clock } = start((request) => {
      received.push(request.headers.get('webhook-id') ?? '');
      return new Response(null, { status: 500 });
    });
    const id = await deliver(1);
    const row = await settled(id, () => clock.advance(3000));
    expect(row).toMatchObject({ state: 'failed', attempts: 3, last_error: 'answered 500' });
    expect(received).toEqual([id, id, id]);
  });

  test('only 200 counts: other good answers and redirects are failures, and redirects are not followed', async () => {
    for (const status of [201, 204, 302]) {
      let asked = 0;
      const { deliver, settled, clock } = start(() => {
        asked++;
        return new Response(null, { status, headers: { location: '/elsewhere' } });
      });
      const row = await settled(await deliver(1), () => clock.advance(3000));
      expect(row).toMatchObject({ state: 'failed' });
      expect(row.last_error).toStartWith(`answered ${status}`);
      expect(asked).toBe(3);
    }
  });

  test('a receiver that hangs is given up after the limit and does not hold up others', async () => {
    const hanging = Promise.withResolvers<Response>();
    cleanups.push(() => hanging.resolve(new Response()));
    const answer = async (request: Request) => {
      const { index } = (await request.json()) as { index: string };
      return index.includes('0000000000000000001-')
        ? hanging.promise
        : new Response(null, { status: 200 });
    };
    const { deliver, settled } = start(answer, undefined, SHORT_LIMIT);
    const slow = await deliver(1);
    const quick = await deliver(2);
    expect(await settled(quick)).toMatchObject({ state: 'delivered' });
    const first = await settled(slow, undefined, (row) => row.attempts > 0);
    expect(first).toMatchObject({ state: 'pending', last_error: 'no answer within 2 seconds' });
  });

  test('a receiver that is not there is an attempt that failed', async () => {
    const { deliver, settled } = start(() => new Response(), 'http://127.0.0.1:9');
    const row = await settled(await deliver(1), undefined, ({ attempts }) => attempts > 0);
    expect(row.last_error).toBe('connection refused by the receiver');
  });

  test('a delivery for which this process has no descriptor waits, and that is no attempt', async () => {
    const port = freePort();
    let refused = 0;
    let isFree = false;
    const { deliver, settled, clock, attempts } = start(
      () => new Response(),
      `http://127.0.0.1:${port}`,
      {
        canConnect() {
          refused++;
          return isFree;
        },
      },
    );
    const id = await deliver(1);
    const waited = await settled(
      id,
      () => clock.advance(3000),
      () => refused > 5,
    );
    expect(waited).toMatchObject({ state: 'pending', attempts: 0, last_error: null });
    expect(await attempts()).toEqual({});
    isFree = true;
    const receiver = Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response() });
    cleanups.push(() => receiver.stop(true));
    const row = await settled(id, () => clock.advance(3000));
    expect(row).toMatchObject({ state: 'delivered' });
  });

  test('every attempt is counted once, by how it ended', async () => {
    let status = 500;
    const { deliver, settled, clock, attempts } = start(() => new Response(null, { status }));
    expect(await attempts()).toEqual({});
    await settled(await deliver(1), () => clock.advance(3000));
    expect(await attempts()).toEqual({ refused: 3 });
    status = 200;
    await settled(await deliver(2));
    expect(await attempts()).toEqual({ refused: 3, delivered: 1 });
    const nobody = start(() => new Response(), 'http://127.0.0.1:9');
    const id = await nobody.deliver(1);
    await nobody.settled(id, () => nobody.clock.advance(3000));
    expect(await nobody.attempts()).toEqual({ unreachable: 3 });
    const hanging = Promise.withResolvers<Response>();
    cleanups.push(() => hanging.resolve(new Response()));
    const late = start(() => hanging.promise, undefined, SHORT_LIMIT);
    await late.settled(await late.deliver(1), undefined, (row) => row.attempts > 0);
    expect(await late.attempts()).toEqual({ timeout: 1 });
  });

  test('a failed delivery can be sent again under its id', async () => {
    let status = 500;
    const { deliver, settled, clock, store, dispatcher } = start(
      () => new Response(null, { status }),
    );
    const id = await deliver(1);
    await settled(id, () => clock.advance(3000));
    status = 200;
    expect(
      await store.outbox.redeliver({ walletId: WALLET, nowMs: clock.now(), endpoint: null, id }),
    ).toBe(1);
    dispatcher.wake();
    expect(await settled(id)).toMatchObject({ state: 'delivered' });
  });
});

test('a delivery that is claimed while the sidecar stops is not sent, and is due again', async () => {
  const store = openSqliteStore(':memory:');
  cleanups.push(() => store.close());
  const { claim } = store.outbox;
  const claimed = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  Object.assign(store.outbox, {
    claim: async (options: Parameters<typeof claim>[0]) => {
      const due = await claim(options);
      if (due.length === 0) return due;
      claimed.resolve();
      await goOn.promise;
      return due;
    },
  });
  let asked = 0;
  const { deliver, clock, dispatcher } = start(
    () => {
      asked++;
      return new Response();
    },
    undefined,
    { store },
  );
  await deliver(1);
  await claimed.promise;
  const stopped = dispatcher.stop();
  goOn.resolve();
  await stopped;
  expect(asked).toBe(0);
  expect(await nextDueAt(store)).toBeLessThanOrEqual(clock.now());
});
