import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { UNKNOWN_INDEX } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

describe('payer proofs', () => {
  test('a completed outbound offer payment is proven, with the defaults of the contract', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { description: 'Proof' });
    const { index } = await world.post(
      '/v2/node/pay_offer',
      { offer, amount: '5', message: 'from me' },
      world.bob,
    );
    const { proof } = await world.post(
      '/v2/node/create_payer_proof',
      { index, proof_note: 'challenge' },
      world.bob,
    );
    expect(proof).toStartWith('lnp1');
    expect(await world.post('/v2/node/verify_payer_proof', { proof })).toMatchObject({
      valid: true,
      proof_note: 'challenge',
      invoice_amount: '5',
      offer_description: 'Proof',
      offer_issuer: null,
      invreq_payer_note: 'from me',
    });
    const { disclosed_types } = await world.post('/v2/node/verify_payer_proof', { proof });
    expect(disclosed_types).toEqual([10, 88, 89, 164, 168, 170, 176]);
    const disclosures = {
      offer_description: false,
      invreq_payer_note: false,
      invoice_amount: false,
      invoice_created_at: false,
    };
    const bare = await world.post('/v2/node/create_payer_proof', { index, disclosures }, world.bob);
    expect(await world.post('/v2/node/verify_payer_proof', { proof: bare.proof })).toMatchObject({
      valid: true,
      invoice_amount: null,
      invoice_created_at: null,
      offer_description: null,
      invreq_payer_note: null,
      proof_note: null,
    });
    for (const type of [0, 240, 7, 100_000]) {
      const body = { index, disclosures: { additional_disclosures: [type] } };
      expectError(
        await world.call('POST', '/v2/node/create_payer_proof', { body, credentials: world.bob }),
        'rejected',
        /cannot be disclosed/,
      );
    }
    const changed = `${proof.slice(0, -8)}${proof.slice(-8) === 'qqqqqqqq' ? 'pppppppp' : 'qqqqqqqq'}`;
    expect(await world.post('/v2/node/verify_payer_proof', { proof: changed })).toMatchObject({
      valid: false,
    });
  });

  test('a client that may only send proves its own payments, and no others (docs/decisions.md 175)', async () => {
    const make = async (scopes: readonly string[]) =>
      (await world.post('/v2/node/create_client', { scopes }, world.bob)).client_credentials;
    const [payer, thief, reader] = await Promise.all([
      make(['send']),
      make(['send']),
      make(['send', 'read_payments']),
    ]);
    const { offer } = await world.post('/v2/node/create_offer');
    const { index } = await world.post('/v2/node/pay_offer', { offer, amount: '5' }, payer);
    const prove = (credentials: string, of = index) =>
      world.call('POST', '/v2/node/create_payer_proof', { body: { index: of }, credentials });
    const stolen = await prove(thief);
    expectError(stolen, 'notFound');
    expect(stolen.body).toEqual((await prove(thief, UNKNOWN_INDEX)).body);
    expect((await prove(payer)).status).toBe(200);
    expect((await prove(reader)).status).toBe(200);
  });

  test('TLV types are integers, in requests and in answers', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    const { index } = await world.post('/v2/node/pay_offer', { offer, amount: '5' }, world.bob);
    const prove = (types: readonly unknown[]) =>
      world.call('POST', '/v2/node/create_payer_proof', {
        body: { index, disclosures: { additional_disclosures: types } },
        credentials: world.bob,
      });
    for (const type of ['22', 22.5, -22]) expectError(await prove([type]), 'rejected');
    const { proof } = (await prove([22])).body;
    const checked = await world.post('/v2/node/verify_payer_proof', { proof });
    expect(checked.disclosed_types).toContain(22);
  });

  test('a payment that does not exist is error 107', async () => {
    for (const index of [UNKNOWN_INDEX, UNKNOWN_INDEX.replace('-ln_', '-fs_')]) {
      expectError(
        await world.call('POST', '/v2/node/create_payer_proof', { body: { index } }),
        'notFound',
        /Payment not found/,
      );
    }
  });

  test('other payments cannot be proven', async () => {
    const { index } = await world.post('/v2/node/create_invoice', { amount: '1' });
    expectError(
      await world.call('POST', '/v2/node/create_payer_proof', { body: { index } }),
      'refused',
    );
  });
});
