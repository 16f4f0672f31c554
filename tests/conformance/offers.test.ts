import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { walletSteps } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const { analyze, arrived, newest } = walletSteps(() => world);

describe('offers', () => {
  test('an offer takes many payments; message and offer_id arrive with the receiver', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { description: 'Tips' });
    for (const amount of ['10', '20.5']) {
      const body = { offer, amount, message: 'well done', personal_note: 'private' };
      const sent = await world.post('/v2/node/pay_offer', body, world.bob);
      expect(sent).toMatchObject({
        rail: 'offer',
        kind: 'offer',
        direction: 'outbound',
        status: 'completed',
        amount,
        message: 'well done',
        personal_note: 'private',
      });
      expect(sent.index).toMatch(/-fs_[0-9a-f]{64}$/);
      const received = await arrived(({ hash }) => hash === sent.hash);
      expect(received).toMatchObject({
        rail: 'offer',
        direction: 'inbound',
        status: 'completed',
        amount,
        message: 'well done',
        personal_note: null,
        offer_id: sent.offer_id,
        hash: sent.hash,
        preimage: sent.preimage,
      });
      expect(received.index).toMatch(/-fr_[0-9a-f]{64}$/);
    }
  });

  test('a minimum is a minimum', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { min_amount: '100' });
    expectError(
      await world.call('POST', '/v2/node/pay_offer', {
        body: { offer, amount: '99' },
        credentials: world.bob,
      }),
      'rejected',
      /at least 100/,
    );
    expect(
      await world.post('/v2/node/pay_offer', { offer, amount: '150' }, world.bob),
    ).toMatchObject({ status: 'completed', amount: '150' });
    const { payables } = await analyze(offer);
    expect(payables).toEqual([
      expect.objectContaining({ kind: 'offer', offer, amount: null, min_amount: '100' }),
    ]);
  });

  test('an offer in pieces is joined wherever an offer is taken', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    const pieces = offer.replace('lno', 'l+no').replace(/(.{25})(?=.)/g, '$1+\n ');
    for (const text of [pieces, pieces.toUpperCase()]) {
      const { payables } = await analyze(text);
      expect(payables).toEqual([expect.objectContaining({ kind: 'offer', offer })]);
      for (const payable of [
        text,
        `lightning:${text}`,
        `bitcoin:?lno=${encodeURIComponent(text)}`,
      ]) {
        expect(await world.post('/v2/node/pay', { payable, amount: '3' }, world.bob)).toMatchObject(
          { rail: 'offer', status: 'completed' },
        );
      }
      expect(
        await world.post('/v2/node/pay_offer', { offer: text, amount: '3' }, world.bob),
      ).toMatchObject({ status: 'completed' });
      expect(await world.post('/sandbox/pay', { payable: text, amount: '3' })).toEqual({
        status: 'completed',
      });
    }
    const lost = pieces.replaceAll('+', ' ');
    expectError(
      await world.call('POST', '/v2/node/pay_offer', { body: { offer: lost, amount: '3' } }),
      'rejected',
    );
  });

  test('an expired offer is refused, and expiration_secs shows in analyze', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { expiration_secs: 60 });
    expect((await analyze(offer)).payables[0].expires_at).toBeGreaterThan(Date.now());
    await world.post('/sandbox/clock', { advance_secs: 120 });
    expectError(
      await world.call('POST', '/v2/node/pay_offer', {
        body: { offer, amount: '1' },
        credentials: world.bob,
      }),
      'refused',
      /expired/,
    );
  });

  test('offers of the outside world settle, fail and hold', async () => {
    const of = async (behavior: string) =>
      (await world.post('/sandbox/offer', { behavior, description: behavior })).offer;
    expect(
      await world.post('/v2/node/pay_offer', { offer: await of('settle'), amount: '1000' }),
    ).toMatchObject({ status: 'completed', fees: '2' });
    expect(
      await world.post('/v2/node/pay_offer', { offer: await of('fail'), amount: '1000' }),
    ).toMatchObject({ status: 'failed', fees: '0' });
    const held = await world.call('POST', '/v2/node/pay_offer', {
      body: { offer: await of('hold'), amount: '10' },
      headers: { prefer: 'respond-async' },
    });
    expect(held.status).toBe(202);
    await world.post('/sandbox/holds', { payment_hash: held.body.hash, settle: false });
    expect(await world.get('/v2/node/wait_for_payment', { index: held.body.index })).toMatchObject({
      status: 'failed',
    });
  });

  test('an own offer, another network and garbage are refused', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    expectError(
      await world.call('POST', '/v2/node/pay_offer', { body: { offer, amount: '1' } }),
      'refused',
      /own/,
    );
    const mainnet =
      'lno1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg';
    expectError(
      await world.call('POST', '/v2/node/pay_offer', { body: { offer: mainnet, amount: '1' } }),
      'refused',
      /network/,
    );
    expectError(
      await world.call('POST', '/v2/node/pay_offer', { body: { offer: 'lno1x', amount: '1' } }),
      'rejected',
    );
  });

  test("payer_name is never the payee's own name, by which the offer was found", async () => {
    const { lightning_address, human_bitcoin_address } = await world.put(
      '/v2/node/human_bitcoin_address',
      { username: 'payee-of-offers' },
    );
    for (const payable of [human_bitcoin_address, lightning_address]) {
      const sent = await world.post('/v2/node/pay', { payable, amount: '12' }, world.bob);
      const received = await newest();
      expect(received).toMatchObject({ hash: sent.hash, direction: 'inbound' });
      expect([sent.payer_name, received.payer_name]).toEqual([null, null]);
    }
  });

  test('the outside world pays an offer with payer name and message', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    await world.post('/sandbox/pay', {
      payable: offer,
      amount: '44',
      message: 'hi',
      payer_name: 'alice@example.com',
    });
    expect(await newest()).toMatchObject({
      amount: '44',
      message: 'hi',
      payer_name: 'alice@example.com',
    });
  });
});
