import { afterEach, describe, expect, test } from 'bun:test';
import { openLog } from '../../src/lib/log.ts';
import { openMetrics } from '../../src/lib/metrics.ts';
import type { Payment } from '../../src/model/payment.ts';
import { blankPayment } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { matchObservation } from '../../src/wallet/observe.ts';
import { type Dispatcher, startDispatcher } from '../../src/webhooks/dispatcher.ts';
import { deliveryDraft } from '../../src/webhooks/draft.ts';
import { deliverySigner } from '../../src/webhooks/sign.ts';
import { parseExposition } from '../lib/exposition.ts';

const WALLET = 'ab'.repeat(32);
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

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
      expect(row).toMatchObject({ state: 'failed', last_error: `answered ${status}` });
      expect(asked).toBe(3);
    }
  });

  test('a receiver that hangs is given up after the limit and does not hold up others', async () => {
    const hanging = Promise.withResolvers<Response>();
    cleanups.push(() => hanging.resolve(new Response()));
    const { deliver, settled } = start(async (request) => {
      const { index } = (await request.json()) as { index: string };
      return index.includes('0000000000000000001-')
        ? hanging.promise
        : new Response(null, { status: 200 });
    });
    const slow = await deliver(1);
    const quick = await deliver(2);
    expect(await settled(quick)).toMatchObject({ state: 'delivered' });
    const first = await settled(slow, undefined, (row) => row.attempts > 0);
    expect(first).toMatchObject({ state: 'pending', last_error: 'no answer within 0.2 seconds' });
  });

  test('a receiver that is not there is an attempt that failed', async () => {
    const { deliver, settled } = start(() => new Response(), 'http://127.0.0.1:9');
    const row = await settled(await deliver(1), undefined, ({ attempts }) => attempts > 0);
    expect(row.last_error).toBe('could not connect');
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
    const late = start(() => hanging.promise);
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
    expect(await store.outbox.redeliver({ walletId: WALLET, nowMs: clock.now(), id })).toBe(1);
    dispatcher.wake();
    expect(await settled(id)).toMatchObject({ state: 'delivered' });
  });
});

function start(answer: (request: Request) => Response | Promise<Response>, url?: string) {
  const store = openSqliteStore(':memory:');
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  let offset = 0;
  const clock = { now: () => Date.now() + offset, advance: (ms: number) => (offset += ms) };
  const metrics = openMetrics();
  const dispatcher: Dispatcher = startDispatcher({
    outbox: store.outbox,
    url: url ?? receiver.url.href,
    sign: deliverySigner(Buffer.alloc(32, 7).toString('base64')),
    clock,
    random: () => 0.5,
    log: openLog({ level: 'silent', format: 'text', write: () => undefined }),
    metrics,
    attemptLimitMs: 200,
  });
  cleanups.push(async () => {
    await receiver.stop(true);
    await dispatcher.stop();
    await store.close();
  });

  async function deliver(createdAtMs: number): Promise<string> {
    const payment = finished(createdAtMs);
    const draft = deliveryDraft(payment, WALLET, clock.now());
    await store.watches.add(WALLET, { kind: 'payment', index: payment.index });
    await store.observations.apply(
      WALLET,
      {
        observations: [{ payment, attempt: null }],
        cursor: null,
        journaled: false,
        nowMs: clock.now(),
      },
      { match: matchObservation, transition: (_, seen) => seen.payment, deliver: () => draft },
    );
    dispatcher.wake();
    return draft.id;
  }

  /** Attempts by outcome, those that happened. */
  async function attempts(): Promise<Record<string, number>> {
    const family = parseExposition(await metrics.render()).get(
      'wallet_sidecar_webhook_attempts_total',
    );
    const all = [...(family?.series ?? [])].map(
      ([key, count]) => [key.split('"')[1] ?? '', count] as const,
    );
    return Object.fromEntries(all.filter(([, count]) => count > 0));
  }

  async function settled(
    id: string,
    each: (() => unknown) | undefined = undefined,
    until = (row: { state: string; attempts: number }) => row.state !== 'pending',
  ) {
    for (let round = 0; round < 400; round++) {
      const rows = await store.outbox.list({
        walletId: WALLET,
        state: null,
        limit: 10,
        before: null,
      });
      const row = rows.find((one) => one.id === id);
      if (row && until(row)) return row;
      each?.();
      dispatcher.wake();
      await Bun.sleep(10);
    }
    throw new Error(`${id} did not settle`);
  }
  return { deliver, settled, clock, store, dispatcher, attempts };
}

function finished(createdAtMs: number): Payment {
  return {
    ...blankPayment({
      index: paymentIndex(createdAtMs, paymentId('ln', 'cd'.repeat(32))),
      rail: 'invoice',
      direction: 'inbound',
      status: 'completed',
      statusMsg: 'completed',
      createdAtMs,
      updatedAtMs: createdAtMs + 1,
    }),
    finalizedAtMs: createdAtMs + 1,
  };
}
