import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import type { ConnectInput } from '../../../src/model/connect.ts';
import type { ProxyAddress } from '../../../src/model/proxy-address.ts';
import { lndConnect } from '../../../src/nodes/lnd/set-up/connect.ts';
import { selfSignedCertificate } from '../../hostile/certificates.ts';
import { type FakeLnd, startFakeLnd } from '../../hostile/fake-lnd.ts';
import { startSocksServer } from '../../support/socks-server.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

let lnd: FakeLnd;
let told: string[];
beforeAll(async () => {
  lnd = await startFakeLnd();
});
afterAll(() => lnd.stop());

/** Runs the command's search with this input; `macaroon` is the content of the macaroon's file. */
function find(
  macaroon: Uint8Array | string,
  change: Partial<ConnectInput> & { readonly proxy?: ProxyAddress | null } = {},
) {
  told = [];
  const files: Readonly<Record<string, Uint8Array | string>> = { macaroon, cert: lnd.cert };
  return lndConnect.find({
    argument: undefined,
    options: change.argument ? {} : { url: lnd.url, certPath: 'cert', macaroonPath: 'macaroon' },
    read: (path) => new Uint8Array(Buffer.from(files[path] ?? '')),
    proxy: null,
    tell: (sentence) => void told.push(sentence),
    ...change,
  });
}

const failure = (work: Promise<unknown>) => work.then(String, (error: Error) => error);
const bytes = (macaroonHex: string) => Buffer.from(macaroonHex, 'hex');

/** An lndconnect URI of the node, at this host. */
function uriOf(host: string, cert = lnd.cert): string {
  const der = Buffer.from(cert.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const macaroon = bytes(lnd.adminMacaroon);
  return `lndconnect://${host}?cert=${der.toString('base64url')}&macaroon=${macaroon.toString('base64url')}`;
}

describe('the file of a macaroon', () => {
  const forms: Readonly<Record<string, (hex: string) => Uint8Array | string>> = {
    binary: bytes,
    hex: (hex) => hex,
    'hex in capitals with a line feed': (hex) => `${hex.toUpperCase()}\n`,
    base64: (hex) => bytes(hex).toString('base64'),
    'base64 in lines': (hex) => bytes(hex).toString('base64').replace(/.{76}/g, '$&\n'),
    base64url: (hex) => bytes(hex).toString('base64url'),
  };
  for (const [form, write] of Object.entries(forms)) {
    test(`is read in ${form}`, async () => {
      const { credentials } = await find(write(lnd.adminMacaroon));
      expect(credentials).toMatchObject({ token: lnd.adminMacaroon, nodePk: lnd.pubkey });
    });
  }

  test('that holds something else is told so, and nothing is sent', async () => {
    const before = lnd.received.length;
    for (const other of ['', 'hello', 'c0ffee', lnd.cert, lnd.adminMacaroon.slice(0, 60)]) {
      const error = await failure(find(other));
      expect(error).toMatchObject({
        kind: 'rejected',
        message: expect.stringMatching(/^The file of --macaroon-path (?:is empty|holds)/),
      });
    }
    expect(lnd.received.length).toBe(before);
  });
});

describe('what a macaroon allows', () => {
  const allowed = async (operations: string) =>
    (await find(lnd.macaroons.bake(operations.split(' ')))).permissions;

  test('with readonly.macaroon, is to read and to keep notes', async () => {
    // The operations of the file that LND 0.18 to 0.21 writes.
    const readonly =
      'address:read info:read invoices:read macaroon:read message:read offchain:read onchain:read peers:read signer:read';
    expect(await allowed(readonly)).toEqual([
      'node_info',
      'list_channels',
      'get_human_bitcoin_address',
      'get_payments_by_indexes',
      'get_new_payments',
      'get_updated_payments',
      'get_payment_by_id',
      'list_broadcasted_txs',
      'resync',
      'update_personal_note',
      'list_clients',
      'manage_webhooks',
    ]);
  });

  test('does not include synchronizing payments that it may not read', async () => {
    expect(await allowed('info:read')).toEqual([
      'get_human_bitcoin_address',
      'update_personal_note',
      'list_clients',
      'manage_webhooks',
    ]);
  });

  test('is not asked for without info:read, and the command that bakes another is told', async () => {
    // The operations of LND's own invoice.macaroon.
    const invoice = 'address:read address:write invoices:read invoices:write onchain:read';
    const error = await failure(find(lnd.macaroons.bake(invoice.split(' '))));
    expect(error).toMatchObject({
      kind: 'forbidden',
      message: `The macaroon lacks info:read, which the sidecar needs in every macaroon: run "lncli bakemacaroon --save_to wallet-sidecar.macaroon info:read ${invoice}", and connect with that file.`,
    });
  });
});

describe('a URI with the port of gRPC', () => {
  const GRPC = 10_009;
  const REST = 8080;

  /** Connects to `lnd.example`; its ports lead to those of this machine. */
  async function connectWith(ports: Readonly<Record<number, number>>) {
    // Nothing listens at port 1.
    const socks = await startSocksServer((port) => ports[port] ?? 1);
    try {
      const found = await failure(
        find('', { argument: uriOf(`localhost:${GRPC}`), proxy: socks }).then(
          ({ credentials }) => credentials.url,
        ),
      );
      return { found, asked: [...new Set(socks.asked)] };
    } finally {
      socks.stop();
    }
  }
  const restPort = () => Number(new URL(lnd.url).port);

  test('is told so, and the REST port of that host is tried', async () => {
    const { found, asked } = await connectWith({ [REST]: restPort() });
    expect(found).toBe(`https://localhost:${REST}`);
    expect(asked).toEqual([`localhost:${GRPC}`, `localhost:${REST}`]);
    expect(told).toEqual([
      `No REST interface answers at https://localhost:${GRPC}, the port that LND has for gRPC: trying https://localhost:${REST}.`,
    ]);
  });

  test('is used as it is where a REST interface answers there', async () => {
    const { found, asked } = await connectWith({ [GRPC]: restPort() });
    expect(found).toBe(`https://localhost:${GRPC}`);
    expect(asked).toEqual([`localhost:${GRPC}`]);
    expect(told).toEqual([]);
  });

  test('whose REST port does not answer either is an error, after it was told which port was tried', async () => {
    const { found } = await connectWith({});
    expect(found).toMatchObject({
      kind: 'unreachable',
      message:
        'LND cannot be reached through the SOCKS5 proxy: check that the proxy runs at the address of --node-proxy, and that LND is running.',
    });
    expect(told).toEqual([expect.stringContaining(`trying https://localhost:${REST}.`)]);
  });
});

for (const way of ['directly', 'through a proxy']) {
  test(`a port that speaks HTTP/2 alone, reached ${way}, is told to be the one of gRPC`, async () => {
    const certificate = selfSignedCertificate();
    const grpc = createServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
      socket.on('error', () => undefined);
      // Go's server closes a connection that does not begin as HTTP/2 does.
      socket.on('data', () => socket.destroy());
    });
    await new Promise<void>((resolve) => grpc.listen(0, '127.0.0.1', resolve));
    const socks = way === 'directly' ? null : await startSocksServer();
    const url = `https://127.0.0.1:${(grpc.address() as AddressInfo).port}`;
    try {
      const error = await failure(
        find(bytes(lnd.adminMacaroon), {
          options: { url, certPath: 'cert', macaroonPath: 'macaroon' },
          read: (path) =>
            path === 'cert' ? Buffer.from(certificate.cert) : bytes(lnd.adminMacaroon),
          proxy: socks,
        }),
      );
      expect(error).toMatchObject({
        kind: 'unreachable',
        message: `${url} is the gRPC port of an LND: give its REST port, 8080 by default (restlisten in lnd.conf).`,
      });
    } finally {
      grpc.close();
      socks?.stop();
    }
  });
}

describe('an onion address', () => {
  const HOST = `${'a'.repeat(56)}.onion`;

  test('is reached through the proxy alone, which looks it up', async () => {
    const socks = await startSocksServer();
    const certificate = selfSignedCertificate({ host: HOST });
    const onion = await startFakeLnd({ certificate });
    const place = `${HOST}:${new URL(onion.url).port}`;
    try {
      const macaroon = bytes(onion.adminMacaroon).toString('base64url');
      const uri = `${uriOf(place, onion.cert).split('&')[0]}&macaroon=${macaroon}`;
      const without = await failure(find('', { argument: uri }));
      expect(without).toMatchObject({
        kind: 'unreachable',
        message: expect.stringMatching(/onion address.*--node-proxy/),
      });
      expect(onion.received).toEqual([]);
      const { credentials } = await find('', { argument: uri, proxy: socks });
      expect(credentials).toMatchObject({ url: `https://${place}`, nodePk: onion.pubkey });
      expect([...new Set(socks.asked)]).toEqual([place]);
    } finally {
      await onion.stop();
      socks.stop();
    }
  });

  test('that shows the certificate of another host gets no macaroon', async () => {
    const socks = await startSocksServer();
    try {
      const before = lnd.received.length;
      const uri = uriOf(`${HOST}:${new URL(lnd.url).port}`);
      const error = await failure(find('', { argument: uri, proxy: socks }));
      expect(error).toMatchObject({ message: expect.stringMatching(/certificate/) });
      expect(lnd.received.length).toBe(before);
    } finally {
      socks.stop();
    }
  });
});

test('that an LND keeps its payments in native SQL is told, where the macaroon may ask', async () => {
  const other = await startFakeLnd();
  try {
    const at = { options: { url: other.url, certPath: 'other', macaroonPath: 'macaroon' } };
    const files: Readonly<Record<string, string>> = { other: other.cert };
    const connected = async (macaroonHex: string) => {
      const read = (path: string) => new Uint8Array(Buffer.from(files[path] ?? macaroonHex));
      await find('', { ...at, read });
      return told;
    };
    expect(await connected(other.adminMacaroon)).toEqual([]);
    other.payments.moveToNativeSql();
    expect(await connected(other.adminMacaroon)).toEqual([
      'This LND keeps its payments in native SQL (db.use-native-sql), which the sidecar supports.',
    ]);
    const narrow = other.macaroons.bake(['info:read', 'offchain:read']);
    expect(await connected(narrow)).toEqual([]);
  } finally {
    await other.stop();
  }
});

test('a proxy that does not answer is named in the error', async () => {
  const proxy = { host: '127.0.0.1', port: 1 };
  const error = await failure(find(bytes(lnd.adminMacaroon), { proxy }));
  expect(error).toMatchObject({
    kind: 'unreachable',
    message: expect.stringMatching(/SOCKS5 proxy.*--node-proxy/),
  });
});
