import { afterAll, beforeAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { TLSSocket } from 'node:tls';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { RemoteFailure } from '../../../src/nodes/remote/calls/failure.ts';
import { CERT, head, pour, type RawServer, startRawServer } from '../../support/raw-server.ts';
import { type SocksServer, startSocksServer } from '../../support/socks-server.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
/** A connection that was prepared is closed unused after this time, milliseconds. */
const KEPT_MS = 2000;
/** Later than any test ends: the longest time of a timer. */
const NEVER_MS = 2 ** 31 - 1;
const CHUNK = Buffer.alloc(64 * 1024, 'x');

let socks: SocksServer;
beforeAll(async () => {
  socks = await startSocksServer();
});
afterAll(() => socks.stop());

for (const way of ['directly', 'through a SOCKS5 proxy'] as const)
  describe(way, () => {
    let server: RawServer;
    let endpoint: RemoteEndpoint;
    const proxied = way !== 'directly';
    const endpointAt = (url: string, cert: string | null = CERT) =>
      new RemoteEndpoint({ url, cert }, proxied ? socks : null);
    beforeAll(async () => {
      server = await startRawServer();
      endpoint = endpointAt(server.url);
    });
    afterAll(() => server.stop());

    const call = (change: object = {}, read: 'call' | 'firstLine' = 'call') =>
      endpoint[read]({
        method: 'GET',
        path: '/thing',
        headers: {},
        body: null,
        timeoutMs: 20_000,
        mostBytes: MIB,
        ownConnection: true,
        ...change,
      });

    const streamed = (change: object = {}) =>
      endpoint.stream({
        method: 'GET',
        path: '/things',
        headers: {},
        body: null,
        signal: new AbortController().signal,
        headWithinMs: 20_000,
        silenceMs: null,
        ...change,
      });
    async function lines(change: object = {}): Promise<string[]> {
      const stream = await streamed(change);
      try {
        return await Array.fromAsync(stream.lines());
      } finally {
        stream.close();
      }
    }

    const failure = async (work: Promise<unknown>): Promise<RemoteFailure> => {
      const error = await work.then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error instanceof RemoteFailure) return error;
      throw new Error(`no failure of a request: ${error}`);
    };

    async function closed(): Promise<void> {
      await until(() => server.open() === 0, 'every connection was closed');
    }

    /** Checks that of an answer of 1 GiB little is taken, and that the connection is closed then. */
    async function expectCutOff(read: () => Promise<unknown>): Promise<void> {
      let written = () => 0;
      server.behave((socket) => {
        socket.write(head('200 OK', `content-length: ${GIB}`));
        written = pour(socket, CHUNK, GIB);
      });
      expect((await failure(read())).reason).toBe('oversized');
      await closed();
      expect(written()).toBeLessThan(64 * MIB);
    }

    describe('a call', () => {
      test('is read up to its limit: of 1 GiB little is taken, and the connection is closed', async () => {
        await expectCutOff(call);
      });

      test('that is refused is read up to 64 KiB, whatever the limit of an answer', async () => {
        server.behave((socket) => {
          socket.write(head('500 Internal Server Error', 'content-length: 70000'));
          socket.end(Buffer.alloc(70_000, 'x'));
        });
        expect((await failure(call())).reason).toBe('oversized');
        await closed();
      });

      test('ends at its time in silence, and may have been read', async () => {
        server.behave(() => undefined);
        const { reason, nothingSent } = await failure(call({ timeoutMs: 200 }));
        expect([reason, nothingSent]).toEqual(['timeout', false]);
        await closed();
      });

      test('ends at its time however slowly it is answered', async () => {
        server.behave((socket) => {
          socket.write(head('200 OK', 'content-length: 1000'));
          const timer = setInterval(() => socket.write('x'), 20);
          socket.once('close', () => clearInterval(timer));
        });
        expect((await failure(call({ timeoutMs: 400 }))).reason).toBe('timeout');
        await closed();
      });

      test('of which the first line is enough is not read on, and the connection is closed', async () => {
        server.behave((socket) => {
          socket.write(`${head('200 OK', 'content-length: 1000')}first\nsecond\n`);
        });
        expect(await call({}, 'firstLine')).toEqual({
          status: 200,
          text: 'first',
          serverTimeMs: null,
        });
        await closed();
      });

      test('is probed by the system while it is silent', async () => {
        using probes = spyOn(TLSSocket.prototype, 'setKeepAlive');
        server.behave((socket) => socket.end(`${head('200 OK')}{"a":1}\n`));
        await lines();
        expect(probes.mock.calls).toEqual([[true, 30_000]]);
      });

      test('that is sent elsewhere goes nowhere', async () => {
        const before = server.requests.length;
        server.behave((socket) => {
          socket.end(
            head(
              '307 Temporary Redirect',
              `location: ${server.url}/elsewhere`,
              'content-length: 0',
            ),
          );
        });
        expect((await failure(call())).reason).toBe('redirected');
        expect(server.requests.slice(before)).toEqual(['GET /thing HTTP/1.1']);
      });

      test('is answered by bytes as they are: nothing is unpacked', async () => {
        const packed = Bun.gzipSync(Buffer.alloc(MIB, 'x'));
        server.behave((socket) => {
          socket.write(
            head('200 OK', 'content-encoding: gzip', `content-length: ${packed.length}`),
          );
          socket.end(packed);
        });
        expect((await call()).text.length).toBeLessThan(10_000);
      });

      test('whose connection is cut may have been read', async () => {
        server.behave((socket) => socket.destroy());
        const { reason, nothingSent } = await failure(call());
        expect([reason, nothingSent]).toEqual(['unreachable', false]);
      });

      test('to a port where nothing listens, or to another certificate, was not sent', async () => {
        const gone = await startRawServer();
        gone.stop();
        const absent = endpointAt(gone.url);
        const stranger = endpointAt(server.url, null);
        for (const [other, reason] of [
          [absent, proxied ? 'proxy' : 'unreachable'],
          [stranger, 'certificate'],
        ] as const) {
          endpoint = other;
          const failed = await failure(call());
          expect([failed.reason, failed.nothingSent]).toEqual([reason, true]);
          const streamed = await failure(lines());
          expect([streamed.reason, streamed.nothingSent]).toEqual([reason, true]);
        }
        endpoint = endpointAt(server.url);
      });

      test('waits for its turn when one place has 32 of them, and leaves no byte when it gives up', async () => {
        server.behave(() => undefined);
        const before = server.requests.length;
        const held = Array.from({ length: 32 }, () => failure(call({ timeoutMs: 1500 })));
        const { reason, nothingSent } = await failure(call({ timeoutMs: 300 }));
        expect([reason, nothingSent]).toEqual(['timeout', true]);
        await Promise.all(held);
        expect(server.requests.length - before).toBeLessThanOrEqual(32);
        server.behave((socket) => socket.end(`${head('200 OK', 'content-length: 2')}{}`));
        expect((await call()).text).toBe('{}');
      });
    });

    describe('a stream', () => {
      test('ends at a line without end, and the connection is closed', async () => {
        await expectCutOff(lines);
      });

      test('gives lines whole, however they were cut', async () => {
        const body = Buffer.from('{"a":"₿"}\n\n{"b":2}\n{"c":3}');
        server.behave((socket) => {
          socket.write(head('200 OK', `content-length: ${body.length}`));
          const next = (at: number) => {
            if (at >= body.length) return socket.end();
            socket.write(body.subarray(at, at + 1), () => setImmediate(() => next(at + 1)));
          };
          next(0);
        });
        expect(await lines()).toEqual(['{"a":"₿"}', '{"b":2}', '{"c":3}']);
      });

      test('whose head does not come in time ends, where it must come at once', async () => {
        server.behave(() => undefined);
        const { reason, nothingSent } = await failure(lines({ headWithinMs: 200 }));
        expect([reason, nothingSent]).toEqual(['timeout', false]);
        await closed();
      });

      /** Answers each stream with the number of connections that are open then. */
      const tellOpen = () =>
        server.behave((socket) => socket.end(`${head('200 OK')}${server.open()}\n`));

      test('takes the connection that was prepared for it, which carried nothing before', async () => {
        tellOpen();
        const before = server.requests.length;
        endpoint.prepareStream();
        // A proxy keeps none ready.
        if (!proxied) await until(() => server.open() === 1, 'a connection was opened');
        expect(server.requests.slice(before)).toEqual([]);
        expect(await lines({ isPrepared: true })).toEqual(['1']);
        await closed();
      });

      test('leaves a connection that was prepared for another, which is closed unused', async () => {
        if (proxied) return;
        tellOpen();
        const set = globalThis.setTimeout;
        const expiries: (() => void)[] = [];
        const held = (work: () => void, ms?: number) => {
          if (ms !== KEPT_MS) return set(work, ms);
          expiries.push(work);
          return set(work, NEVER_MS);
        };
        using _ = spyOn(globalThis, 'setTimeout').mockImplementation(held as typeof set);
        endpoint.prepareStream();
        await until(() => server.open() === 1, 'a connection was opened');
        expect(await lines()).toEqual(['2']);
        for (const expire of expiries) expire();
        await closed();
        expect(await lines({ isPrepared: true })).toEqual(['1']);
      });

      test('to another certificate was not sent, also when it was prepared', async () => {
        const stranger = endpointAt(server.url, null);
        const before = server.requests.length;
        stranger.prepareStream();
        const stream = stranger.stream({
          method: 'POST',
          path: '/things',
          headers: {},
          body: null,
          signal: new AbortController().signal,
          headWithinMs: 20_000,
          silenceMs: null,
          isPrepared: true,
        });
        const { reason, nothingSent } = await failure(stream);
        expect([reason, nothingSent]).toEqual(['certificate', true]);
        expect(server.requests.slice(before)).toEqual([]);
      });

      test('that falls silent ends, where silence is not usual', async () => {
        server.behave((socket) => socket.write(`${head('200 OK')}{"a":1}\n`));
        expect((await failure(lines({ silenceMs: 200 }))).reason).toBe('timeout');
        await closed();
      });

      test('that is sent elsewhere goes nowhere', async () => {
        const before = server.requests.length;
        server.behave((socket) => {
          socket.end(head('302 Found', `location: ${server.url}/elsewhere`, 'content-length: 0'));
        });
        const stream = await streamed();
        expect(stream.status).toBe(302);
        stream.close();
        expect(server.requests.slice(before)).toEqual(['GET /things HTTP/1.1']);
      });
    });
  });
