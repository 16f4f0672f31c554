import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { createGuardedFetch } from '../../src/net/guarded-fetch.ts';
import { createLnurlClient, type LnurlPayRequest } from '../../src/net/lnurl.ts';
import { TEST_CERTIFICATE } from '../support/outside-service.ts';
import { freePort } from '../support/ports.ts';
import { expectError } from '../support/requests.ts';
import { type ReverseProxy, startReverseProxy } from '../support/reverse-proxy.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { type NoticeReceiver, startNoticeReceiver } from './notices.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

const SATOSHI = { username: 'satoshi' };

describeNetwork("names of wallets on LND in the operator's own domain", (network) => {
  const proxyPort = freePort();
  const domain = `shop.example:${proxyPort}`;
  let notices: NoticeReceiver;
  let sidecar: NodeSidecar;
  let proxy: ReverseProxy;
  let owner: string;
  const stranger = createLnurlClient(
    createGuardedFetch({
      allowPrivateNetwork: true,
      allowLoopback: false,
      resolve: async () => ['127.0.0.1'],
      ca: TEST_CERTIFICATE,
    }),
  );
  const termsOf = async (username: string) =>
    (await stranger.discover(
      `https://${domain}/.well-known/lnurlp/${username}`,
    )) as LnurlPayRequest;
  const invoiceFor = async (username: string, amountMsat: bigint, comment: string | null = null) =>
    (await stranger.requestInvoice(await termsOf(username), { amountMsat, comment })).invoice;
  const read = (path: string, query?: Record<string, string>) => sidecar.get(path, query, owner);

  beforeAll(async () => {
    notices = startNoticeReceiver();
    owner = await connectLnd(network().alice);
    sidecar = await startNodeSidecar([
      ...['--client-credentials', owner, '--require-auth'],
      ...['--address-domain', domain, '--sidecar-url', `https://${domain}`],
      ...notices.flags,
    ]);
    proxy = await startReverseProxy(proxyPort, Number(new URL(sidecar.baseUrl).port));
  });
  afterAll(async () => {
    await proxy?.stop();
    await sidecar?.close();
    await notices?.stop();
  });

  test('a wallet without a name has none, and claims one that has no offer', async () => {
    const shown = await sidecar.call('GET', '/v2/node/human_bitcoin_address', {
      credentials: owner,
    });
    expectError(shown, 'notFound');
    const claimed = await sidecar.put('/v2/node/human_bitcoin_address', SATOSHI, owner);
    expect(claimed).toEqual({
      human_bitcoin_address: `₿satoshi@${domain}`,
      lightning_address: `satoshi@${domain}`,
      offer: null,
      updatable: true,
    });
    expect(await read('/v2/node/human_bitcoin_address')).toEqual(claimed);
  });

  test('another LND pays the name, the payment has the comment as its message, and the webhook comes', async () => {
    const invoice = await invoiceFor('satoshi', 21_000n, 'for the tea');
    expect(await outsider(network().bob).pays(invoice.text)).toBe('SUCCEEDED');
    const { payments } = await read('/v2/node/updated_payments', { limit: '100' });
    const paid = payments.find(({ hash }: { hash: string }) => hash === invoice.paymentHash);
    const done = await read('/v2/node/wait_for_payment', { index: paid.index, timeout_secs: '30' });
    expect(done).toMatchObject({
      direction: 'inbound',
      status: 'completed',
      amount: '21',
      message: 'for the tea',
      invoice: invoice.text,
    });
    await notices.delivered(done.index, 'completed');
  });

  test('LND makes invoices for the least and the most of the terms', async () => {
    const { minSendableMsat: minMsat, maxSendableMsat: maxMsat } = await termsOf('satoshi');
    for (const amountMsat of [minMsat, maxMsat]) {
      const { text } = await invoiceFor('satoshi', amountMsat);
      expect(decodeBolt11(text).amountMsat).toBe(amountMsat);
    }
  });

  test('name and places survive a kill, and an invoice from before is watched after it', async () => {
    const invoice = await invoiceFor('satoshi', 33_000n, 'before the kill');
    await sidecar.kill();
    await sidecar.start();
    expect(await outsider(network().bob).pays(invoice.text)).toBe('SUCCEEDED');
    const { payments } = await read('/v2/node/updated_payments', { limit: '100' });
    const paid = payments.find(({ hash }: { hash: string }) => hash === invoice.paymentHash);
    await notices.delivered(paid.index, 'completed');
    expect(await read('/v2/node/payment', { index: paid.index })).toMatchObject({
      status: 'completed',
      message: 'before the kill',
    });
  });

  test('a client that may only manage the address changes the name, which stays when it is revoked', async () => {
    const { client_pk, client_credentials } = await sidecar.post(
      '/v2/node/create_client',
      { scopes: ['manage_address'] },
      owner,
    );
    const changed = { username: 'nakamoto' };
    await sidecar.put('/v2/node/human_bitcoin_address', changed, client_credentials);
    await sidecar.post('/v2/node/revoke_client', { client_pk }, owner);
    const invoice = await invoiceFor('nakamoto', 5_000n);
    expect(await outsider(network().bob).pays(invoice.text)).toBe('SUCCEEDED');
    expect(
      await stranger.discover(`https://${domain}/.well-known/lnurlp/satoshi`).catch((e) => e),
    ).toMatchObject({ kind: 'serviceFailed' });
  });

  test('without a domain names are error 110, and the routes of payers are not there', async () => {
    const plain = await startNodeSidecar(['--client-credentials', owner]);
    try {
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', SATOSHI],
      ] as const) {
        const answer = await plain.call(method, '/v2/node/human_bitcoin_address', { body });
        expectError(answer, 'unsupported', /--address-domain/);
        expect(answer.body.data).toEqual({ node: 'lnd' });
      }
      expectError(await plain.call('GET', '/.well-known/lnurlp/satoshi'), 'notFound');
    } finally {
      await plain.close();
    }
  });
});
