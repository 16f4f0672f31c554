import { expect, test } from 'bun:test';
import { parseWalletAuth } from '../../src/model/clients/wallet-auth.ts';

const APP = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const RELAY = 'relay=wss%3A%2F%2Frelay.getalby.com%2Fv1';

test('the URI of an application that asks for a wallet is read as the SDK of Alby writes it', () => {
  // From the tests of @getalby/sdk 8.
  const whole = `nostr+walletauth://${APP}?request_methods=get_info%20pay_invoice&name=App%20Name&icon=https%3A%2F%2Fexample.com%2Fimage.png&return_to=https%3A%2F%2Fexample.com&notification_types=payment_received%20payment_sent&max_amount=1000000&budget_renewal=monthly&expires_at=1740470142&isolated=true&metadata=%7B%22message%22%3A%22hello%20world%22%7D&${RELAY}`;
  expect(parseWalletAuth(whole)).toEqual({
    value: {
      app: APP,
      relays: ['wss://relay.getalby.com/v1'],
      scopes: ['read_payments', 'send'],
      budget: { sats: 1000n, period: 'month' },
      expiresAtMs: 1_740_470_142_000,
      own: true,
    },
  });
  const least = { app: APP, scopes: ['read_info'], budget: null, expiresAtMs: null, own: false };
  for (const begin of ['nostr+walletauth://', 'nostr+walletauth:', 'nostr+walletauth+alby://']) {
    const read = parseWalletAuth(`${begin}${APP}?request_methods=get_info&${RELAY}&${RELAY}`);
    expect(read).toMatchObject({ value: { ...least, relays: { length: 2 } } });
  }
});

test('a URI without a key, a relay that may be one, or methods is no such URI', () => {
  const wrong = [
    '',
    'nostr+walletconnect://',
    `nostr+walletauth://${APP}?request_methods=get_info`,
    `nostr+walletauth://${APP}?${RELAY}`,
    `nostr+walletauth://${APP}?request_methods=get_info&relay=ws://relay.example`,
    `nostr+walletauth://${APP.slice(1)}?request_methods=get_info&${RELAY}`,
  ];
  for (const text of wrong)
    expect([text, 'problem' in parseWalletAuth(text)]).toEqual([text, true]);
});
