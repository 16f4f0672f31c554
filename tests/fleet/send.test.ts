import { afterEach, describe, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { openPeerSender, type PeerSender, type SentRequest } from '../../src/fleet/send.ts';
import { throwing } from '../support/rejection.ts';

/** What a fake sidecar does with each request: answers with this text, or closes the connection. */
type Behaviour = (count: number) => string | 'close';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const never = new AbortController().signal;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function fake(behaviour: Behaviour) {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      seen.push(bytes.toString());
      const told = behaviour(seen.length);
      if (told === 'close') socket.destroy();
      else socket.write(told);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  closing.push(stop);
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, seen, connections: () => sockets.size, stop };
}

function sender(): PeerSender {
  const one = openPeerSender();
  closing.push(() => one.close());
  return one;
}

const asked = (change: Partial<SentRequest> = {}): SentRequest => ({
  method: 'POST',
  target: '/v2/node/pay',
  headers: [['x-a', '1']],
  body: new TextEncoder().encode('{}'),
  mayRepeat: false,
  ...change,
});
const ends = (over: AbortSignal = never) => ({ gone: never, over });

describe('a request to the sidecar that leads', () => {
  test('is sent once when the connection is closed after it, kept or not', async () => {
    for (const mayRepeat of [false, true]) {
      for (const method of ['POST', 'PUT', 'GET']) {
        // The first answer leaves the connection open.
        const peer = await fake((count) => (count === 1 ? OK : 'close'));
        const to = sender();
        const request = asked({ method, mayRepeat, body: method === 'GET' ? null : asked().body });
        expect((await to.send(peer.url, request, ends())).kind).toBe('answered');
        expect(await to.send(peer.url, request, ends())).toEqual({ kind: 'cut' });
        expect(peer.seen).toHaveLength(2);
      }
    }
  });

  test('has a connection of its own unless it may be sent twice', async () => {
    for (const [mayRepeat, connections] of [
      [false, 3],
      [true, 1],
    ] as const) {
      const peer = await fake(() => OK);
      const to = sender();
      for (let count = 0; count < 3; count++) await to.send(peer.url, asked({ mayRepeat }), ends());
      expect(peer.connections()).toBe(connections);
    }
  });

  test('was not sent where no connection could be made', async () => {
    const peer = await fake(() => OK);
    peer.stop();
    expect(await sender().send(peer.url, asked(), ends())).toEqual({ kind: 'not_sent' });
  });

  test('is cut when another one takes over before it is answered, and its caller learns of its own end', async () => {
    const peer = await fake(() => '');
    const over = new AbortController();
    const sent = sender().send(peer.url, asked(), ends(over.signal));
    while (peer.seen.length === 0) await Bun.sleep(0);
    over.abort();
    expect(await sent).toEqual({ kind: 'cut' });

    const gone = new AbortController();
    const left = sender().send(peer.url, asked(), { gone: gone.signal, over: never });
    while (peer.seen.length === 1) await Bun.sleep(0);
    gone.abort(new Error('the caller went away'));
    expect(await throwing(left)).toThrow('the caller went away');
  });

  test('is cut when its answer breaks off in the middle, whatever the form of the answer', async () => {
    const halves = [
      'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
      'HTTP/1.1 200 OK\r\ncontent-',
    ];
    for (const half of halves) {
      const peer = await fake(() => half);
      const sent = sender().send(peer.url, asked(), ends());
      while (peer.seen.length === 0) await Bun.sleep(0);
      setTimeout(peer.stop, 20);
      expect(await sent).toEqual({ kind: 'cut' });
    }
  });

  test('has its answer whole, with every header', async () => {
    const peer = await fake(
      () =>
        'HTTP/1.1 422 X\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nx-request-id: 7\r\ncontent-length: 4\r\n\r\nbody',
    );
    const sent = await sender().send(peer.url, asked(), ends());
    if (sent.kind !== 'answered') throw new Error(sent.kind);
    expect(sent.answer.status).toBe(422);
    expect(sent.answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(sent.answer.headers.get('x-request-id')).toBe('7');
    expect(new TextDecoder().decode(sent.answer.body as Uint8Array)).toBe('body');
    expect(peer.seen[0]).toMatch(/^POST \/v2\/node\/pay HTTP\/1.1\r\n/);
    expect(peer.seen[0]).toMatch(/x-a: 1\r\n/i);
  });

  test('gets an event stream as it comes, which ends with the one that leads', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';
    for (const end of ['over', 'broken'] as const) {
      const peer = await fake(() => `${head}transfer-encoding: chunked\r\n\r\n6\r\ndata: \r\n`);
      const over = new AbortController();
      const sent = await sender().send(peer.url, asked({ method: 'GET', body: null }), {
        gone: never,
        over: over.signal,
      });
      if (sent.kind !== 'answered') throw new Error(sent.kind);
      const reader = (sent.answer.body as ReadableStream<Uint8Array>).getReader();
      expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: ');
      const next = reader.read();
      if (end === 'over') over.abort();
      else peer.stop();
      expect((await next).done).toBe(true);
    }
  });

  test('gets rows as they come, which break off where those of the one that leads broke off', async () => {
    for (const type of ['text/csv', 'application/x-ndjson']) {
      for (const [rest, whole] of [
        ['', false],
        ['0\r\n\r\n', true],
      ] as const) {
        const peer = await fake(
          () =>
            `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n4\r\na,b\n\r\n${rest}`,
        );
        const sent = await sender().send(peer.url, asked({ method: 'GET', body: null }), ends());
        if (sent.kind !== 'answered') throw new Error(sent.kind);
        const reader = (sent.answer.body as ReadableStream<Uint8Array>).getReader();
        expect(new TextDecoder().decode((await reader.read()).value)).toBe('a,b\n');
        const next = reader.read();
        if (!whole) peer.stop();
        if (whole) expect((await next).done).toBe(true);
        else expect(await throwing(next)).toThrow('broke off');
      }
    }
  });
});
