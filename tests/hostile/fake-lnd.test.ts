import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { readMacaroon, restrictMacaroon, timeBefore } from '../../src/nodes/lnd/words/macaroon.ts';
import * as wire from '../../src/nodes/lnd/words/wire.ts';
import { type LndRest, type LndRestError, lndRest } from '../interop/harness/lnd-rest.ts';
import { until } from '../support/until.ts';
import { type FakeLnd, startFakeLnd } from './fake-lnd.ts';
import { type NodeFiles, nodeFiles } from './node-files.ts';

let fake: FakeLnd;
let files: NodeFiles;
let lnd: LndRest;

beforeAll(async () => {
  fake = await startFakeLnd();
  files = nodeFiles(fake);
  lnd = lndRest(files);
});
afterAll(async () => {
  await fake.stop();
  files[Symbol.dispose]();
});

const get = (path: string) => lnd.rest<never>('GET', path);
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'no refusal',
    ({ status, body }: LndRestError) => ({ status, body }),
  );

test('the fake speaks the shapes that the connector reads', async () => {
  wire.infoShape.parse(await get('/v1/getinfo'));
  wire.stateShape.parse(await get('/v1/state'));
  wire.walletBalanceShape.parse(await get('/v1/balance/blockchain'));
  expect(wire.channelsShape.parse(await get('/v1/channels')).channels).toHaveLength(1);
  wire.pendingChannelsShape.parse(await get('/v1/channels/pending'));
  expect(wire.transactionsShape.parse(await get('/v1/transactions')).transactions).toHaveLength(1);
  wire.addressShape.parse(await get('/v1/newaddress?type=2'));
});

test('a macaroon opens what its uri permissions name, and nothing else, until its root key is gone', async () => {
  const permissions = [{ entity: 'uri', action: '/lnrpc.Lightning/GetInfo' }];
  const { macaroon } = await lnd.rest<{ macaroon: string }>('POST', '/v1/macaroon', {
    permissions,
    root_key_id: '77',
  });
  expect(readMacaroon(macaroon)).toEqual({ rootKeyId: '77', operations: permissions });
  const as = (macaroonHex: string | null, path: string) =>
    lnd.rest('GET', path, undefined, { macaroonHex });
  await as(macaroon, '/v1/getinfo');
  await as(restrictMacaroon(macaroon, timeBefore(Date.now() + 60_000)), '/v1/getinfo');
  const words = async (macaroonHex: string | null, path = '/v1/getinfo') =>
    JSON.stringify(await refusal(as(macaroonHex, path)));
  expect(await refusal(as(macaroon, '/v1/channels'))).toEqual({
    status: 500,
    body: { code: 2, message: 'permission denied', details: [] },
  });
  expect(await words(null)).toContain('expected 1 macaroon, got 0');
  expect(await words(restrictMacaroon(macaroon, timeBefore(1)))).toContain('has expired');
  expect(await words(`${macaroon.slice(0, -2)}00`)).toContain('signature mismatch after caveat');
  expect(await lnd.rest<object>('DELETE', '/v1/macaroon/77')).toEqual({ deleted: true });
  expect(await words(macaroon)).toContain('cannot get macaroon');
});

test('its invoices decode, page, stream when settled, and are found by their hash', async () => {
  const stop = new AbortController();
  const stream = lnd.stream<never>('GET', '/v1/invoices/subscribe', undefined, stop);
  const next = stream.next();
  await until(() => fake.invoices.changes.followers > 0);
  const preimage = Buffer.alloc(32, 7);
  const added = wire.addedInvoiceShape.parse(
    await lnd.rest('POST', '/v1/invoices', {
      value_msat: '2500',
      memo: 'tea',
      expiry: '60',
      r_preimage: preimage.toString('base64'),
    }),
  );
  const { paymentHash, amountMsat, payeePubkey } = decodeBolt11(added.payment_request);
  expect([paymentHash, amountMsat, payeePubkey]).toEqual([added.r_hash, 2500n, fake.pubkey]);
  expect(paymentHash).toBe(createHash('sha256').update(preimage).digest('hex'));
  fake.paysInvoice(paymentHash, { amountMsat: 2000n });
  const seen = wire.invoiceShape.parse(await get(`/v1/invoice/${paymentHash}`));
  expect([seen.state, seen.amt_paid_msat, seen.settle_index]).toEqual(['SETTLED', 2000n, 1]);
  expect(wire.invoiceShape.parse((await next).value).r_hash).toBe(paymentHash);
  stop.abort();
  const { invoices } = wire.invoicesShape.parse(await get('/v1/invoices?index_offset=0'));
  expect(invoices.map((row) => wire.invoiceShape.parse(row).add_index)).toEqual([1]);
  expect(await refusal(get(`/v1/invoice/${'0'.repeat(64)}`))).toMatchObject({ status: 404 });
});

test('a payment is refused twice with 409 and retried with a new payment_index once it failed', async () => {
  const { invoice, hash, preimage } = fake.payments.foreignInvoice({ amountMsat: 5000n });
  const pay = async () => {
    const body = { payment_request: invoice, fee_limit_msat: '1000', timeout_seconds: 60 };
    const updates = await Array.fromAsync(lnd.stream<never>('POST', '/v2/router/send', body));
    return updates.map((update) => wire.paymentShape.parse(update));
  };
  fake.payments.decide(hash, { end: 'fail' });
  const failed = await pay();
  expect(failed.map(({ status }) => status)).toEqual(['IN_FLIGHT', 'FAILED']);
  fake.payments.decide(hash, { end: 'succeed', feeMsat: 700n });
  const paid = (await pay()).at(-1);
  expect(paid).toMatchObject({ status: 'SUCCEEDED', fee_msat: 700n, payment_preimage: preimage });
  expect(paid?.payment_index).toBe((failed[0]?.payment_index ?? 0) + 1);
  expect(await refusal(pay())).toEqual({
    status: 409,
    body: { error: { code: 6, message: 'invoice is already paid', details: [] } },
  });
  const list = wire.paymentsShape.parse(await get('/v1/payments?reversed=true&max_payments=1'));
  expect(list.payments.map((row) => wire.paymentShape.parse(row).payment_hash)).toEqual([hash]);
  expect(fake.payments.attempts.get(hash)).toBe(2);
});

test('a funded PSBT locks its coins, and what was signed publishes twice as one transaction', async () => {
  const { address } = wire.addressShape.parse(await get('/v1/newaddress?type=2'));
  const post = <T>(path: string, body: object) => lnd.rest<T>('POST', path, body);
  const funded = await post<{ funded_psbt: string; locked_utxos: object[] }>(
    '/v2/wallet/psbt/fund',
    { raw: { outputs: { [address]: '50000' } }, sat_per_vbyte: '2' },
  );
  expect(funded.locked_utxos).toHaveLength(1);
  const { locked_balance } = await get('/v1/balance/blockchain');
  expect(BigInt(locked_balance)).toBeGreaterThan(0n);
  const { raw_final_tx } = await post<{ raw_final_tx: string }>('/v2/wallet/psbt/finalize', {
    funded_psbt: funded.funded_psbt,
  });
  const publish = () => post('/v2/wallet/tx', { tx_hex: raw_final_tx, label: 'ws:1' });
  expect([await publish(), await publish()]).toEqual([
    { publish_error: '' },
    { publish_error: '' },
  ]);
  const sent = fake.wallet.list().filter(({ label }) => label === 'ws:1');
  expect(sent).toHaveLength(1);
  const replacement = fake.wallet.replace(sent[0]?.txid ?? '');
  fake.wallet.mine(1);
  const { transactions } = wire.transactionsShape.parse(await get('/v1/transactions'));
  const hashes = transactions.map(({ tx_hash }) => tx_hash);
  expect(hashes).toContain(replacement.txid);
  expect(hashes).not.toContain(sent[0]?.txid ?? '');
});

test('a channel opens after its confirmations and closes', async () => {
  const pubkey = `02${'11'.repeat(32)}`;
  await lnd.rest('POST', '/v1/peers', { addr: { pubkey, host: '127.0.0.1:9735' } });
  const opened = wire.openedChannelShape.parse(
    await lnd.rest('POST', '/v1/channels', {
      node_pubkey: Buffer.from(pubkey, 'hex').toString('base64'),
      local_funding_amount: '100000',
      memo: 'mine',
    }),
  );
  const txid = Buffer.from(opened.funding_txid_bytes, 'hex').reverse().toString('hex');
  const active = async () =>
    wire.channelsShape.parse(await get('/v1/channels')).channels.map(({ memo }) => memo);
  expect(await active()).not.toContain('mine');
  fake.wallet.mine(3);
  expect(await active()).toContain('mine');
  const closing = lnd.stream('DELETE', `/v1/channels/${txid}/${opened.output_index}`);
  expect((await closing.next()).value).toHaveProperty('close_pending');
  fake.wallet.mine(1);
  expect((await closing.next()).value).toHaveProperty('chan_close');
  expect(await active()).not.toContain('mine');
});

test('its signature of a message proves its key', async () => {
  const msg = Buffer.from('challenge');
  const { signature } = await lnd.rest<{ signature: string }>('POST', '/v1/signmessage', {
    msg: msg.toString('base64'),
  });
  const letters = 'ybndrfg8ejkmcpqxot1uwisza345h769';
  const bits = [...signature].map((c) => letters.indexOf(c).toString(2).padStart(5, '0')).join('');
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const [head = 0, ...compact] = bytes;
  const sha256 = (data: Buffer) => createHash('sha256').update(data).digest();
  const digest = sha256(sha256(Buffer.concat([Buffer.from('Lightning Signed Message:'), msg])));
  const recovered = secp256k1.recoverPublicKey(Uint8Array.from([head - 31, ...compact]), digest, {
    prehash: false,
  });
  expect(Buffer.from(recovered).toString('hex')).toBe(fake.pubkey);
});

test('a restart drops its streams and keeps what it knows; every request is recorded', async () => {
  const stream = lnd.stream('POST', '/v2/chainnotifier/register/blocks', {});
  await stream.next();
  await fake.restart();
  const end = await stream.next().then(
    ({ done }) => done,
    () => true,
  );
  expect(end).toBe(true);
  await get('/v1/getinfo');
  expect(fake.received.at(-1)).toEqual({
    method: 'GET',
    path: '/v1/getinfo',
    rpc: '/lnrpc.Lightning/GetInfo',
    macaroonHex: fake.adminMacaroon,
    body: '',
  });
});
