import { afterAll, beforeEach, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';
import { DERIVATION_LABELS, derive } from '../../../src/model/root-seed.ts';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { createWallet, unlockWallet } from '../../../src/nodes/lnd/set-up/root-wallet.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { throwing } from '../../support/rejection.ts';

const SEED = new Uint8Array(32).fill(7);
/** HKDF-SHA256 of the seed, computed by another implementation (hkdfSync of node:crypto). */
const VECTORS = {
  master: '6ce2d0d337072822e1e3ba90e921b208404339f839012be26dcc29b0ed2ece3f',
  password: '1ea70ace3fc12d2cfbab7bf36fcfde9240273b5968ef129efb6547b6b791876d',
  macaroons: '4bdd5b0cdb396ea487164753429b7ad14caaf33bacb9b667a5c14d71f3ac7267',
};

/**
 * The state of a minimal server that answers the wallet methods as LND on regtest does. It proves nothing about LND
 * itself.
 */
let state = 'NON_EXISTING';
let requests: { path: string; body: Record<string, string> }[] = [];
const fakeLnd = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname: path } = new URL(request.url);
    if (path === '/v1/state') return Response.json({ state });
    const body = (await request.json()) as Record<string, string>;
    requests.push({ path, body });
    if (path === '/v1/initwallet' && body.extended_master_key?.startsWith('xprv')) {
      const message = 'extended master key must be for network regtest';
      return Response.json({ code: 2, message, details: [] }, { status: 500 });
    }
    state = 'SERVER_ACTIVE';
    return Response.json({});
  },
});
afterAll(() => fakeLnd.stop(true));
beforeEach(() => {
  state = 'NON_EXISTING';
  requests = [];
});
const rest = () =>
  new LndRest({
    endpoint: new RemoteEndpoint({ url: fakeLnd.url.origin, cert: null }),
    token: () => null,
  });

test('what follows from a root seed for LND never changes', () => {
  expect(hex.encode(derive(SEED, DERIVATION_LABELS.lndMaster))).toBe(VECTORS.master);
  expect(hex.encode(derive(SEED, DERIVATION_LABELS.lndPassword))).toBe(VECTORS.password);
  expect(hex.encode(derive(SEED, DERIVATION_LABELS.lndMacaroons))).toBe(VECTORS.macaroons);
});

test('signup gives a fresh LND the BIP 32 master key of its network, a search for old coins and the macaroon key', async () => {
  await createWallet(rest(), SEED);
  expect(requests.map(({ path }) => path)).toEqual(['/v1/initwallet', '/v1/initwallet']);
  const body = requests[1]?.body ?? {};
  const key = createBase58check(sha256).decode(body.extended_master_key ?? '');
  const master = createHmac('sha512', 'Bitcoin seed').update(hex.decode(VECTORS.master)).digest();
  expect(hex.encode(key.subarray(0, 13))).toBe(`04358394${'00'.repeat(9)}`);
  expect(hex.encode(key.subarray(13))).toBe(
    `${master.subarray(32).toString('hex')}00${master.subarray(0, 32).toString('hex')}`,
  );
  expect(Number(body.recovery_window)).toBeGreaterThan(0);
  expect(body).toMatchObject({
    stateless_init: true,
    wallet_password: Buffer.from(VECTORS.password, 'hex').toString('base64'),
    macaroon_root_key: Buffer.from(VECTORS.macaroons, 'hex').toString('base64'),
  });
});

test('signup does nothing where there is a wallet, locked or open', async () => {
  for (const present of ['LOCKED', 'SERVER_ACTIVE']) {
    state = present;
    await createWallet(rest(), SEED);
  }
  expect(requests).toEqual([]);
});

test('provision unlocks a locked wallet, leaves an open one, and refuses where there is none', async () => {
  expect(await throwing(unlockWallet(rest(), SEED))).toThrow(/signup/);
  state = 'LOCKED';
  await unlockWallet(rest(), SEED);
  await unlockWallet(rest(), SEED);
  expect(requests.map(({ path }) => path)).toEqual(['/v1/unlockwallet']);
});
