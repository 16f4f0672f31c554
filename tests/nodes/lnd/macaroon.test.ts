import { describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { PERMISSIONS } from '../../../src/model/clients/permissions.ts';
import { grantOf, operationsFor } from '../../../src/nodes/lnd/reads/grants.ts';
import { adminMacaroon } from '../../../src/nodes/lnd/set-up/root-wallet.ts';
import {
  mintMacaroon,
  readMacaroon,
  restrictMacaroon,
  timeBefore,
} from '../../../src/nodes/lnd/words/macaroon.ts';

const ROOT_KEY = new Uint8Array(32).fill(1);
const NONCE = new Uint8Array(16).fill(2);

describe('macaroons', () => {
  const minted = mintMacaroon(ROOT_KEY, NONCE, new Map([['info', ['read', 'write']]]));

  test('a minted one reads back with root key id 0 and its operations', () => {
    expect(readMacaroon(minted)).toEqual({
      rootKeyId: '0',
      operations: [
        { entity: 'info', action: 'read' },
        { entity: 'info', action: 'write' },
      ],
    });
  });

  test('minting signs the identifier with a key of the root key, as LND does', () => {
    const bytes = Buffer.from(minted, 'hex');
    expect(bytes.subarray(0, 7).toString('hex')).toBe('0201036c6e6402');
    const identifier = bytes.subarray(8, 8 + (bytes[7] ?? 0));
    expect(bytes.subarray(8 + identifier.length, -32).toString('hex')).toBe('00000620');
    const key = createHmac('sha256', 'macaroons-key-generator').update(ROOT_KEY).digest();
    const signature = createHmac('sha256', key).update(identifier).digest('hex');
    expect(bytes.subarray(-32).toString('hex')).toBe(signature);
  });

  test('a restriction is signed with the signature before it, as LND checks it', () => {
    const condition = timeBefore(1_800_000_000_000);
    expect(condition).toBe('time-before 2027-01-15T08:00:00.000Z');
    const narrowed = restrictMacaroon(minted, condition);
    const expected = createHmac('sha256', Buffer.from(minted.slice(-64), 'hex'))
      .update(condition)
      .digest('hex');
    expect(narrowed.endsWith(expected)).toBe(true);
    expect(narrowed).toContain(Buffer.from(condition).toString('hex'));
    expect(readMacaroon(narrowed)).toEqual(readMacaroon(minted));
  });

  test('any other bytes are no macaroon, and nothing is thrown', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = Buffer.from(bytes).toString('hex');
        if (text !== minted) expect(readMacaroon(text)).toBeNull();
      }),
    );
    for (let at = 0; at < minted.length - 70; at += 2) {
      expect(() => readMacaroon(minted.slice(0, at))).not.toThrow();
    }
    expect(readMacaroon('zz')).toBeNull();
  });

  test('the administrator of a root seed may do everything, and only its nonce varies', () => {
    const seed = new Uint8Array(32).fill(9);
    const admin = readMacaroon(adminMacaroon(seed, NONCE));
    expect(grantOf(admin?.operations ?? []).permissions).toEqual([...PERMISSIONS]);
    expect(adminMacaroon(seed, NONCE)).toBe(adminMacaroon(seed, NONCE));
    expect(adminMacaroon(seed, NONCE)).not.toBe(adminMacaroon(new Uint8Array(32), NONCE));
  });
});

describe('grants', () => {
  const uris = (permissions: Parameters<typeof operationsFor>[0]) =>
    operationsFor(permissions).map(({ action }) => action);

  test("a token allows what its permissions do and GetInfo; look-ups are made with the owner's", () => {
    expect(uris(['create_invoice'])).toEqual([
      '/lnrpc.Lightning/GetInfo',
      '/lnrpc.Lightning/AddInvoice',
      '/invoicesrpc.Invoices/AddHoldInvoice',
      '/invoicesrpc.Invoices/SettleInvoice',
    ]);
    expect(uris(['pay_invoice'])).toEqual([
      '/lnrpc.Lightning/GetInfo',
      '/routerrpc.Router/SendPaymentV2',
    ]);
    expect(uris(['pay_onchain'])).toEqual([
      '/lnrpc.Lightning/GetInfo',
      '/walletrpc.WalletKit/FundPsbt',
      '/walletrpc.WalletKit/FinalizePsbt',
      '/walletrpc.WalletKit/PublishTransaction',
    ]);
    expect(uris(['update_personal_note'])).toEqual(['/lnrpc.Lightning/GetInfo']);
  });

  test('only what sends can send, and no token of a client can make, list or end tokens', () => {
    const sending = [
      '/routerrpc.Router/SendPaymentV2',
      '/walletrpc.WalletKit/FinalizePsbt',
      '/walletrpc.WalletKit/PublishTransaction',
    ];
    for (const permission of PERMISSIONS) {
      const methods = uris([permission]);
      const spends = permission === 'pay_invoice' || permission === 'pay_onchain';
      expect([permission, methods.some((method) => sending.includes(method))]).toEqual([
        permission,
        spends,
      ]);
      expect([permission, methods.filter((method) => method.includes('Macaroon'))]).toEqual([
        permission,
        [],
      ]);
    }
  });

  test('a configured macaroon is good for a permission only with the look-ups that it needs', () => {
    const uri = (action: string) => ({ entity: 'uri', action });
    const pay = uri('/routerrpc.Router/SendPaymentV2');
    const lookups = [
      '/lnrpc.Lightning/ListChannels',
      '/lnrpc.Lightning/ListPayments',
      '/routerrpc.Router/TrackPaymentV2',
    ].map(uri);
    expect(grantOf([pay]).permissions).not.toContain('pay_invoice');
    expect(grantOf([pay, ...lookups]).permissions).toContain('pay_invoice');
    expect(grantOf([pay, ...lookups]).permissions).not.toContain('pay_onchain');
  });

  test('a configured macaroon from before hold invoices goes on creating invoices', () => {
    const before = ['/lnrpc.Lightning/AddInvoice', '/lnrpc.Lightning/LookupInvoice'];
    const held = before.map((action) => ({ entity: 'uri', action }));
    expect(grantOf(held).permissions).toContain('create_invoice');
  });

  test('an LND macaroon by entity is understood: readonly reads and cannot spend', () => {
    const readonly = [
      'address',
      'info',
      'invoices',
      'macaroon',
      'offchain',
      'onchain',
      'peers',
    ].map((entity) => ({ entity, action: 'read' }));
    const found = grantOf(readonly).permissions;
    expect(found).toContain('get_updated_payments');
    expect(found).not.toContain('create_invoice');
    expect(found).not.toContain('pay_onchain');
    expect(found).not.toContain('create_client');
  });
});
