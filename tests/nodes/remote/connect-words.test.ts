import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { base64urlnopad, hex } from '@scure/base';
import type { ConnectKind } from '../../../src/model/connect.ts';
import { clnConnect } from '../../../src/nodes/cln/set-up/connect.ts';
import { lndConnect } from '../../../src/nodes/lnd/set-up/connect.ts';
import { mintMacaroon } from '../../../src/nodes/lnd/words/macaroon.ts';
import { selfSignedCertificate } from '../../hostile/certificates.ts';
import { CERT, KEY } from '../../support/raw-server.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Every message of `connect` for input with which no node is reached. A newcomer sees each of these. */

const plain = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('plain') });
const secured = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: { cert: CERT, key: KEY },
  fetch: () => new Response('a page', { status: 404 }),
});
const hangsUp = Bun.listen({
  port: 0,
  hostname: '127.0.0.1',
  socket: { data: (socket) => void socket.end() },
});
/** Where nothing listens. */
const closed = 1;
afterAll(async () => {
  await Promise.all([plain.stop(true), secured.stop(true)]);
  hangsUp.stop(true);
});

const MACAROON = mintMacaroon(
  new Uint8Array(32),
  new Uint8Array(16),
  new Map([['info', ['read']]]),
);
const RUNE = base64urlnopad.encode(
  Uint8Array.from([...new Uint8Array(32).fill(7), ...Buffer.from('=0&method=getinfo')]),
);
const der = Buffer.from(CERT.replace(/-----[^-]+-----|\s/g, ''), 'base64');

/** What the flags may name. */
const FILES: Readonly<Record<string, Uint8Array | string>> = {
  cert: CERT,
  'other cert': selfSignedCertificate().cert,
  key: KEY,
  der,
  'cut cert': CERT.slice(0, 300),
  empty: '\n',
  text: 'hello',
  macaroon: hex.decode(MACAROON),
  'macaroon in hex': `${MACAROON}\n`,
  'macaroon in base64': Buffer.from(MACAROON, 'hex').toString('base64'),
  'cut macaroon': MACAROON.slice(0, 60),
  rune: `${RUNE}\n`,
  'printed rune': JSON.stringify({ rune: RUNE, unique_id: '0' }),
  'cut rune': RUNE.slice(0, 20),
  'damaged rune': RUNE.slice(0, 46),
  'rune in hex': Buffer.from(RUNE).toString('hex'),
  'rune in base64': Buffer.from(`${RUNE}\n`).toString('base64'),
  'error of lightning-cli': '{\n   "code": -32602,\n   "message": "bad"\n}',
};

const LND = { url: secured.url.href, certPath: 'cert', macaroonPath: 'macaroon' };
const CLN = { url: secured.url.href, certPath: 'cert', runePath: 'rune' };
const at = (port: number | undefined) => `https://127.0.0.1:${port}`;

type Flags = Readonly<Record<string, string | undefined>>;

async function messageOf(
  { find }: ConnectKind['connect'],
  options: Flags,
  argument?: string,
): Promise<string> {
  const input = {
    argument,
    options,
    read: (path: string) => new Uint8Array(Buffer.from(FILES[path] ?? '')),
    proxy: null,
    tell: () => undefined,
  };
  return find(input).then(
    () => 'connected',
    ({ message }: Error) => message,
  );
}

const TLS_CERT = 'tls.cert in the folder of LND';
const ADMIN = 'admin.macaroon in data/chain/bitcoin/mainnet of the folder of LND';
const REST = 'the REST port, which is 8080 or the one of restlisten in lnd.conf';
const OR_URI = ', or give an lndconnect:// URI alone. --help shows an example.';

const ON_LND: readonly (readonly [what: string, flags: Flags, message: string])[] = [
  ['no flag', {}, `--url and --macaroon-path are missing: give them${OR_URI}`],
  ['no URL', { ...LND, url: undefined }, `--url is missing: give it${OR_URI}`],
  [
    'no macaroon',
    { ...LND, macaroonPath: undefined },
    `--macaroon-path is missing: give it${OR_URI}`,
  ],
  [
    'a URL of http',
    { ...LND, url: plain.url.href },
    '--url begins with http://, but a macaroon must not be sent without TLS: give the URL with https://. If LND speaks http alone, remove no-rest-tls from lnd.conf, restart LND and try again.',
  ],
  [
    'host and port alone',
    { ...LND, url: '127.0.0.1:8080' },
    '--url must be a whole URL that begins with https://, such as https://127.0.0.1:8080.',
  ],
  [
    'a URL with a user',
    { ...LND, url: 'https://me:secret@127.0.0.1:8080' },
    '--url must hold no user, query or fragment: give it as https://127.0.0.1:8080.',
  ],
  [
    'an empty certificate',
    { ...LND, certPath: 'empty' },
    `The file of --cert-path is empty: give ${TLS_CERT}.`,
  ],
  [
    'text as the certificate',
    { ...LND, certPath: 'text' },
    `The file of --cert-path holds no certificate, which begins with -----BEGIN CERTIFICATE-----: give ${TLS_CERT}.`,
  ],
  [
    'a certificate in binary',
    { ...LND, certPath: 'der' },
    `The file of --cert-path holds a certificate in binary form: give ${TLS_CERT}, which is text (PEM).`,
  ],
  [
    'a part of the certificate',
    { ...LND, certPath: 'cut cert' },
    `The file of --cert-path holds a certificate that is incomplete or damaged: copy ${TLS_CERT} again.`,
  ],
  [
    'the key of the certificate',
    { ...LND, certPath: 'key' },
    `The file of --cert-path holds a private key, not a certificate: give ${TLS_CERT}, and keep the key where it was.`,
  ],
  [
    'an empty macaroon',
    { ...LND, macaroonPath: 'empty' },
    `The file of --macaroon-path is empty: give ${ADMIN}.`,
  ],
  [
    'text as the macaroon',
    { ...LND, macaroonPath: 'text' },
    `The file of --macaroon-path holds no macaroon of LND: give ${ADMIN}.`,
  ],
  [
    'a part of the macaroon',
    { ...LND, macaroonPath: 'cut macaroon' },
    'The file of --macaroon-path holds a macaroon that is incomplete or damaged: copy it again.',
  ],
  [
    'the certificate as the macaroon',
    { ...LND, macaroonPath: 'cert' },
    `The file of --macaroon-path holds a certificate, not a macaroon: give ${ADMIN}.`,
  ],
  [
    'a key as the macaroon',
    { ...LND, macaroonPath: 'key' },
    `The file of --macaroon-path holds a private key, not a macaroon: give ${ADMIN}.`,
  ],
  [
    'a rune',
    { ...LND, macaroonPath: 'rune' },
    'The file of --macaroon-path holds a rune of Core Lightning, not a macaroon: use `connect cln` for a Core Lightning, or give a macaroon.',
  ],
  [
    'no certificate where the node made its own',
    { ...LND, certPath: undefined },
    `LND at 127.0.0.1:${secured.port} shows a certificate that it made itself, and --cert-path is missing: give ${TLS_CERT}.`,
  ],
  [
    'the certificate of another node',
    { ...LND, certPath: 'other cert' },
    `LND at 127.0.0.1:${secured.port} shows another certificate than the one that was given: give the one of this node, ${TLS_CERT}.`,
  ],
  [
    'https where http is spoken',
    { ...LND, url: at(plain.port) },
    `127.0.0.1:${plain.port} does not speak TLS, without which a macaroon must not be sent: check that the URL has ${REST}. If LND speaks http alone, remove no-rest-tls from lnd.conf, restart LND and try again.`,
  ],
  [
    'a port where nothing listens',
    { ...LND, url: at(closed) },
    `Nothing listens at 127.0.0.1:${closed}: check that LND is running, and that the URL has ${REST}.`,
  ],
  [
    'a port that hangs up',
    { ...LND, url: at(hangsUp.port) },
    `127.0.0.1:${hangsUp.port} closed the connection without an answer, as the port for peers does: check that the URL has ${REST}.`,
  ],
  [
    'a host that nobody knows',
    { ...LND, url: 'https://nowhere.invalid:8080' },
    'The host nowhere.invalid is not known: check the URL.',
  ],
  [
    'a path',
    { ...LND, url: `${at(secured.port)}/v1` },
    `LND does not answer at the path /v1: give --url as https://127.0.0.1:${secured.port}.`,
  ],
  [
    'a server of another kind',
    LND,
    `What answers at 127.0.0.1:${secured.port} is not LND, or a release that is not supported: check that the URL has ${REST}.`,
  ],
];

const CA = "ca.pem in the network's folder of Core Lightning";
const PRINTED = 'a file with what `lightning-cli createrune` prints';
const PORT = 'the port of clnrest-port in the configuration of Core Lightning';
const NO_HTTP =
  'If Core Lightning speaks http alone, remove clnrest-protocol=http from the configuration of Core Lightning, restart it and try again.';
const NOT_LND =
  'The file of --rune-path holds a macaroon of LND, not a rune: use `connect lnd` for an LND, or give a rune.';

const ON_CLN: typeof ON_LND = [
  ['no flag', {}, '--url and --rune-path are missing: give them. --help shows an example.'],
  [
    'no rune',
    { ...CLN, runePath: undefined },
    '--rune-path is missing: give it. --help shows an example.',
  ],
  [
    'a URL of http',
    { ...CLN, url: plain.url.href },
    `--url begins with http://, but a rune must not be sent without TLS: give the URL with https://. ${NO_HTTP}`,
  ],
  [
    'host and port alone',
    { ...CLN, url: 'localhost:3010' },
    '--url must be a whole URL that begins with https://, such as https://127.0.0.1:3010.',
  ],
  [
    'text as the certificate',
    { ...CLN, certPath: 'text' },
    `The file of --cert-path holds no certificate, which begins with -----BEGIN CERTIFICATE-----: give ${CA}.`,
  ],
  [
    'an empty rune',
    { ...CLN, runePath: 'empty' },
    `The file of --rune-path is empty: give ${PRINTED}.`,
  ],
  [
    'text as the rune',
    { ...CLN, runePath: 'text' },
    `The file of --rune-path holds no rune of Core Lightning: give ${PRINTED}.`,
  ],
  [
    'a part of the rune',
    { ...CLN, runePath: 'cut rune' },
    `The file of --rune-path holds no rune of Core Lightning: give ${PRINTED}.`,
  ],
  [
    'a rune whose end is missing',
    { ...CLN, runePath: 'damaged rune' },
    'The file of --rune-path holds a rune that is incomplete or damaged: copy it again.',
  ],
  [
    'a rune in hex',
    { ...CLN, runePath: 'rune in hex' },
    `The file of --rune-path holds a rune in hex or in base64 once more: give ${PRINTED}.`,
  ],
  [
    'a rune in base64 once more',
    { ...CLN, runePath: 'rune in base64' },
    `The file of --rune-path holds a rune in hex or in base64 once more: give ${PRINTED}.`,
  ],
  [
    'an error of lightning-cli',
    { ...CLN, runePath: 'error of lightning-cli' },
    `The file of --rune-path holds JSON without a rune: give ${PRINTED}.`,
  ],
  ['a macaroon', { ...CLN, runePath: 'macaroon' }, NOT_LND],
  ['a macaroon in hex', { ...CLN, runePath: 'macaroon in hex' }, NOT_LND],
  ['a macaroon in base64', { ...CLN, runePath: 'macaroon in base64' }, NOT_LND],
  [
    'no certificate where the node made its own',
    { ...CLN, certPath: undefined },
    `Core Lightning at 127.0.0.1:${secured.port} shows a certificate that it made itself, and --cert-path is missing: give ${CA}.`,
  ],
  [
    'https where http is spoken',
    { ...CLN, url: at(plain.port) },
    `127.0.0.1:${plain.port} does not speak TLS, without which a rune must not be sent: check that the URL has ${PORT}. ${NO_HTTP}`,
  ],
  [
    'a port where nothing listens',
    { ...CLN, url: at(closed), runePath: 'printed rune' },
    `Nothing listens at 127.0.0.1:${closed}: check that Core Lightning is running, and that the URL has ${PORT}.`,
  ],
  [
    'a path',
    { ...CLN, url: `${at(secured.port)}/v1` },
    `Core Lightning does not answer at the path /v1: give --url as https://127.0.0.1:${secured.port}.`,
  ],
];

const uri = (query: string) => `lndconnect://127.0.0.1:${secured.port}${query}`;
const inUri = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');

const BY_URI: readonly (readonly [what: string, uri: string, message: string])[] = [
  [
    'a URL as the argument',
    'https://127.0.0.1:8080',
    'The argument must be a URI of the form lndconnect://host:port?cert=...&macaroon=...; a URL goes to --url.',
  ],
  [
    'a URI that a shell has cut',
    uri(`?cert=${inUri(der)}`),
    'The URI holds no macaroon: give all of it, between single quotes, since a shell ends the command at "&".',
  ],
  [
    'a URI with a part of a macaroon',
    uri('?macaroon=abcd'),
    'The macaroon in the URI is incomplete or damaged: copy the whole URI again.',
  ],
  [
    'a URI with something else than a certificate',
    uri(`?cert=${inUri('hello')}&macaroon=${inUri(hex.decode(MACAROON))}`),
    `The URI holds a certificate that is incomplete or damaged: copy ${TLS_CERT} again.`,
  ],
  [
    'a URI without the certificate that the node made itself',
    uri(`?macaroon=${inUri(hex.decode(MACAROON))}`),
    `LND at 127.0.0.1:${secured.port} shows a certificate that it made itself, and the URI holds no certificate: add cert= to it, or give flags.`,
  ],
];

describe('connect lnd with', () => {
  test.each(ON_LND)('%s', async (_, flags, message) => {
    expect(await messageOf(lndConnect, flags)).toBe(message);
  });

  test.each(BY_URI)('%s', async (_, argument, message) => {
    expect(await messageOf(lndConnect, {}, argument)).toBe(message);
  });
});

describe('connect cln with', () => {
  test.each(ON_CLN)('%s', async (_, flags, message) => {
    expect(await messageOf(clnConnect, flags)).toBe(message);
  });
});
