import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type PaymentEvent, WalletSidecar, WalletSidecarError } from '../../src/client/index.ts';
import { type ConformanceWorld, openConformanceWorld } from '../conformance/world.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

type Stream = ReadableStreamDefaultController<Uint8Array>;

/** Returns a client whose streams are written by `steps`, one for each call. The Last-Event-ID of each call is kept. */
function clientOf(steps: readonly ((stream: Stream) => void)[]) {
  const resumedAfter: (string | null)[] = [];
  let canceled = 0;
  const client = new WalletSidecar({
    fetch: async (_, init) => {
      const step = steps[resumedAfter.length];
      resumedAfter.push(new Headers(init.headers).get('last-event-id'));
      if (!step) return Response.json({ code: 104, msg: 'Unknown credentials.' }, { status: 401 });
      const body = new ReadableStream<Uint8Array>({
        start: (stream) => step(stream),
        cancel: () => {
          canceled++;
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return { client, resumedAfter, canceled: () => canceled };
}

const write = (stream: Stream, text: string) => stream.enqueue(new TextEncoder().encode(text));
const payment = (index: string) => `id: u${index}\nevent: payment\ndata: {"index":"${index}"}\n\n`;

async function collect(events: AsyncIterable<PaymentEvent>) {
  const indexes: string[] = [];
  const end = await (async () => {
    for await (const event of events) indexes.push(event.payment.index);
    return null;
  })().catch((error: unknown) => error);
  return { indexes, end };
}

describe('a stream', () => {
  test('that ends or breaks is opened again after its last event, and ends with the credentials', async () => {
    const { client, resumedAfter } = clientOf([
      (stream) => {
        write(stream, `: open\n\n${payment('1')}${payment('2')}id: u3\nevent: payment\ndata: {"in`);
        stream.close();
      },
      (stream) => {
        write(stream, payment('3'));
        stream.close();
      },
      (stream) => stream.error(new TypeError('cut')),
      (stream) =>
        write(stream, `${payment('4')}event: end\ndata: {"code":8,"msg":"Stopping."}\n\n`),
      (stream) => write(stream, 'event: end\ndata: {"code":104,"msg":"Revoked: ask anew."}\n\n'),
    ]);
    const { indexes, end } = await collect(client.events());
    expect(indexes).toEqual(['1', '2', '3', '4']);
    expect(resumedAfter).toEqual([null, 'u2', 'u3', 'u3', 'u4']);
    expect(end).toBeInstanceOf(WalletSidecarError);
    expect(end).toMatchObject({ code: 104, message: 'Revoked: ask anew.' });
  });

  test('goes on after the place it was opened at when it breaks before its first event', async () => {
    const { client, resumedAfter } = clientOf([
      (stream) => {
        write(stream, ': open\nid: u7\n\n');
        stream.close();
      },
    ]);
    expect((await collect(client.events())).end).toMatchObject({ code: 104, httpStatus: 401 });
    expect(resumedAfter).toEqual([null, 'u7']);
  });

  test('starts after startIndex, in whatever pieces the bytes come', async () => {
    const bytes = new TextEncoder().encode(
      ': ₿\r\n\r\nid: u9\r\nevent: payment\r\ndata: {"index":\r\ndata: "₿"}\r\n\r\n',
    );
    const { client, resumedAfter } = clientOf([
      (stream) => {
        for (const byte of bytes) stream.enqueue(Uint8Array.of(byte));
      },
    ]);
    const events = client.events({ startIndex: 'u8' });
    const { value } = await events.next();
    expect(value).toEqual({ payment: { index: '₿' } as never, updatedIndex: 'u9' });
    expect(resumedAfter).toEqual(['u8']);
    await events.return(undefined as never);
  });

  test('is closed when the reader stops or aborts', async () => {
    const { client, canceled } = clientOf([(stream) => write(stream, payment('1'))]);
    for await (const { updatedIndex } of client.events()) {
      expect(updatedIndex).toBe('u1');
      break;
    }
    expect(canceled()).toBe(1);
  });

  test('is not tried again when the first call gets an error', async () => {
    const { client, resumedAfter } = clientOf([]);
    expect((await collect(client.events())).end).toMatchObject({ code: 104 });
    expect(resumedAfter).toHaveLength(1);
  });
});

describe('with the sidecar', () => {
  let world: ConformanceWorld;
  beforeAll(async () => {
    world = await openConformanceWorld();
  });
  afterAll(() => world.close());

  test('a stream says at once where it starts, so that it can be resumed before its first event', async () => {
    const client = new WalletSidecar({ url: world.baseUrl, credentials: world.bob });
    const headers = { authorization: `Bearer ${world.bob}` };
    const { body } = await fetch(`${world.baseUrl}/v2/node/events`, { headers });
    const reader = body?.getReader();
    const opening = new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    const tip = (await client.updatedPayments()).updated_index;
    expect(opening).toBe(`: open\nid: ${tip}\n\n`);
  });

  test('a stream resumed before all payments gives the first', async () => {
    const client = new WalletSidecar({ url: world.baseUrl, credentials: world.bob });
    const events = client.events({ startIndex: `u${'0'.repeat(19)}-ln_${'0'.repeat(64)}` });
    const { payments } = await client.updatedPayments({ limit: 1 });
    expect((await events.next()).value.payment).toEqual(payments[0] as never);
    await events.return(undefined as never);
  });

  test('no update is missed over a restart, and a signal ends the stream', async () => {
    const client = new WalletSidecar({ url: world.baseUrl, credentials: world.bob });
    const stop = new AbortController();
    const startIndex = (await client.updatedPayments()).updated_index ?? undefined;
    const events = client.events({ signal: stop.signal, startIndex });
    const next = async () => (await events.next()).value;
    const first = await client.createInvoice({ amount: '1' });
    expect((await next()).payment.index).toBe(first.index);
    await world.restart();
    const second = await client.createInvoice({ amount: '2' });
    expect((await next()).payment.index).toBe(second.index);
    await world.post('/sandbox/pay', { payable: first.invoice });
    expect((await next()).payment).toMatchObject({ index: first.index, status: 'completed' });
    stop.abort(new Error('enough'));
    expect(await events.next().catch((error: Error) => error.message)).toBe('enough');
  });
});
