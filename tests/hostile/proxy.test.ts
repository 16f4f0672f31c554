import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NodeSidecar, startNodeSidecar } from '../interop/node-sidecar.ts';
import { runBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { type SocksServer, startSocksServer } from '../support/socks-server.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { selfSignedCertificate } from './certificates.ts';
import { type FakeLnd, startFakeLnd } from './fake-lnd.ts';
import { nodeFiles } from './node-files.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The compiled binary in front of an LND that is an onion service. */

const HOST = `${'b'.repeat(56)}.onion`;
const LONG_MS = 90_000;

let lnd: FakeLnd;
let socks: SocksServer;
let url: string;
let folder: string;
let sidecar: NodeSidecar | null = null;
beforeAll(async () => {
  lnd = await startFakeLnd({ certificate: selfSignedCertificate({ host: HOST }) });
  socks = await startSocksServer();
  url = `https://${HOST}:${new URL(lnd.url).port}`;
  folder = temporaryFolder('proxy');
});
afterAll(async () => {
  await sidecar?.close();
  await lnd.stop();
  socks.stop();
  removeFolder(folder);
});

test(
  'connect and serve reach an onion service through --node-proxy, calls and streams alike',
  async () => {
    using files = nodeFiles({ url, cert: lnd.cert, adminMacaroon: lnd.adminMacaroon });
    const macaroon = Buffer.from(lnd.adminMacaroon, 'hex').toString('base64');
    const connected = await runBinary(
      [
        ...['connect', 'lnd', '--url', url, '--cert-path', files.tlsCertPath],
        ...['--macaroon-path', '-'],
      ],
      { env: { SERVICE_NODE_PROXY: socks.address }, stdin: macaroon },
    );
    expect(connected).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(lnd.pubkey) });
    const path = join(folder, 'node.credentials');
    writeFileSync(path, connected.stdout, { mode: 0o600 });
    sidecar = await startNodeSidecar([
      ...['--client-credentials-path', path, '--node-proxy', socks.address],
    ]);
    expect(await sidecar.get('/v2/node/node_info')).toMatchObject({ node_pk: lnd.pubkey });
    const { index, payment_hash } = await sidecar.post('/v2/node/create_invoice', { amount: '7' });
    lnd.paysInvoice(payment_hash);
    const paid = await waitUntil('the invoice is paid', async () => {
      const payment = await sidecar?.get('/v2/node/payment', { index });
      return payment.status === 'completed' && payment;
    });
    expect(paid.amount).toBe('7');
    expect([...new Set(socks.asked)]).toEqual([new URL(url).host]);
  },
  LONG_MS,
);

test(
  'a proxy that goes away is told, and calls go on when it is back',
  async () => {
    socks.refuse(true);
    await lnd.restart();
    const unreachable = await sidecar?.call('GET', '/v2/node/node_info');
    expect(unreachable).toMatchObject({ status: 503, body: { code: 3 } });
    expect(unreachable?.body.msg).toContain('--node-proxy');
    socks.refuse(false);
    expect(await sidecar?.get('/v2/node/node_info')).toMatchObject({ node_pk: lnd.pubkey });
  },
  LONG_MS,
);
