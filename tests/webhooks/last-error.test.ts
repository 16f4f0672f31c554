import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { lookup } from 'node:dns/promises';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { codeOf } from '../../src/lib/error-code.ts';
import { rejection } from '../support/rejection.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { type Certificate, makeCertificates } from './certificates.ts';
import { dispatchWorld } from './dispatch-world.ts';

const { start } = dispatchWorld();

setDefaultTimeout(SLOW_TEST_MS);

const certificates = makeCertificates();
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** Listens on a free port. Returns the host and port. */
async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const tls = (certificate: Certificate) => async () =>
  `https://${await listening(createHttpsServer(certificate, (_, answer) => answer.end()))}/`;

/** Starts a server that runs `act` when the first bytes arrive, or at once on a connection. */
const tcp =
  (
    scheme: 'http' | 'https',
    act: (socket: Socket) => unknown,
    at: 'data' | 'connection' = 'data',
  ) =>
  async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      if (at === 'connection') act(socket);
      else socket.once('data', () => act(socket));
    });
    return `${scheme}://${await listening(server)}/`;
  };

const hanging = () => undefined;
const reset = (socket: Socket) => socket.resetAndDestroy();
const answering = (text: string) => (socket: Socket) => socket.end(text);
const head = (lines: string) => `HTTP/1.1 200 OK\r\n${lines}\r\n\r\n`;

const MISSING_HOST = 'no-such-host.invalid';
const isDnsThere = codeOf(await rejection(lookup(MISSING_HOST))) === 'ENOTFOUND';
if (!isDnsThere) {
  console.warn(
    'SKIPPED: DNS does not say here that a name does not exist, so a real look-up of one is NOT checked.',
  );
}

/** Receivers, and the words of the error that each causes. Clients read them, so none names the host. */
const FAILURES: readonly (readonly [string, () => Promise<string>, string])[] = [
  [
    'a certificate of an unknown authority',
    tls(certificates.good),
    "the receiver's certificate is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
  ],
  [
    'a certificate that has expired',
    tls(certificates.expired),
    "the receiver's certificate has expired",
  ],
  [
    'a certificate for another name',
    tls(certificates.otherName),
    "the receiver's certificate is for another name",
  ],
  ...(isDnsThere
    ? [
        [
          'a name that does not exist',
          async () => `https://${MISSING_HOST}/hook`,
          "the receiver's name was not found in DNS",
        ] as const,
      ]
    : []),
  [
    'a port that nothing listens on',
    async () => 'http://127.0.0.1:9/hook',
    'connection refused by the receiver',
  ],
  [
    'a connection that is reset before the answer',
    tcp('http', reset),
    'the receiver reset or closed the connection without an answer (ECONNRESET)',
  ],
  [
    'a connection that is closed before the answer',
    tcp('http', (socket) => socket.end()),
    'the receiver reset or closed the connection without an answer (ECONNRESET)',
  ],
  [
    'an answer that is not HTTP',
    tcp('http', answering('hello\r\n\r\n')),
    'the answer of the receiver is not HTTP',
  ],
  ['an answer that does not come', tcp('http', hanging), 'no answer within 2 seconds'],
  ['a TLS handshake that does not end', tcp('https', hanging), 'no TLS handshake within 2 seconds'],
  [
    'a server without TLS',
    tcp('https', answering('HTTP/1.1 400 Bad Request\r\n\r\n')),
    'the TLS handshake with the receiver failed (ERR_SSL_WRONG_VERSION_NUMBER)',
  ],
  [
    'a connection that is reset in the TLS handshake',
    tcp('https', reset),
    'the TLS handshake with the receiver failed (ECONNRESET)',
  ],
  [
    'another status',
    tcp('http', answering('HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n')),
    'answered 503',
  ],
  [
    'a redirect',
    tcp('http', answering('HTTP/1.1 307 See\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n')),
    'answered 307: redirects are not followed',
  ],
];

describe('last_error says what happened, and not where', () => {
  for (const [what, serve, words] of FAILURES) {
    test(`to ${what}`, async () => {
      const url = await serve();
      const trusted = what.includes('unknown authority') ? {} : { ca: certificates.ca };
      // Short only where it is reached, and long enough for the connection before.
      const limit = words.includes('within') ? { attemptLimitMs: 2000 } : {};
      const { deliver, settled } = start(() => new Response(), url, { ...trusted, ...limit });
      const row = await settled(await deliver(1), undefined, ({ attempts }) => attempts > 0);
      expect(row.last_error).toBe(words);
      expect(row.last_error).not.toContain(new URL(url).hostname);
    }, 30_000);
  }
});

/** Answers with status 200 whose bodies are broken or do not end. */
const BODIES: readonly (readonly [string, (socket: Socket) => unknown])[] = [
  ['broken chunks', answering(`${head('transfer-encoding: chunked')}zzz\r\nabc`)],
  [
    'a compression it does not have',
    answering(`${head('content-encoding: gzip\r\ncontent-length: 3')}abc`),
  ],
  ['less than it says', answering(`${head('content-length: 1000')}abc`)],
  [
    'a reset in the middle',
    (socket) => {
      socket.write(`${head('content-length: 1000')}abc`);
      setTimeout(() => socket.resetAndDestroy(), 50);
    },
  ],
  ['no end', (socket) => socket.write(`${head('content-length: 1000')}abc`)],
];

describe('a 200 counts whatever its body is', () => {
  for (const [what, act] of BODIES) {
    test(what, async () => {
      const { deliver, settled } = start(() => new Response(), await tcp('http', act)());
      const row = await settled(await deliver(1), undefined, ({ attempts }) => attempts > 0);
      expect(row).toMatchObject({ state: 'delivered', attempts: 1, last_error: null });
    }, 30_000);
  }

  test('a body without end is not read: its connection is closed', async () => {
    const closed = Promise.withResolvers<number>();
    const url = await tcp('http', (socket) => {
      socket.write(`${head('x: y')}`);
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      };
      socket.on('drain', more);
      socket.on('close', () => closed.resolve(socket.bytesWritten));
      more();
    })();
    const { deliver, settled } = start(() => new Response(), url);
    expect(await settled(await deliver(1))).toMatchObject({ state: 'delivered' });
    // The kernel's buffers take some of the body, and no more than that is sent.
    expect(await closed.promise).toBeLessThan(64 * 1024 * 1024);
  }, 30_000);
});
