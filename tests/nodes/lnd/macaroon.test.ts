import { describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { PERMISSIONS } from '../../../src/model/permissions.ts';
import {
  bakingBeyondFull,
  operationsFor,
  operationsToFollow,
  permissionsOf,
} from '../../../src/nodes/lnd/grants.ts';
import {
  mintMacaroon,
  readMacaroon,
  restrictMacaroon,
  timeBefore,
} from '../../../src/nodes/lnd/macaroon.ts';
import { adminMacaroon } from '../../../src/nodes/lnd/root-wallet.ts';

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
    expect(permissionsOf(admin?.operations ?? [])).toEqual([...PERMISSIONS]);
    expect(adminMacaroon(seed, NONCE)).toBe(adminMacaroon(seed, NONCE));
    expect(adminMacaroon(seed, NONCE)).not.toBe(adminMacaroon(new Uint8Array(32), NONCE));
  });
});

describe('grants', () => {
  const uris = (permissions: Parameters<typeof operationsFor>[0]) =>
    operationsFor(permissions).map(({ action }) => action);

  test('a grant needs the methods of its permissions, GetInfo, and nothing else', () => {
    expect(uris(['create_invoice'])).toEqual([
      '/lnrpc.Lightning/GetInfo',
      '/lnrpc.Lightning/AddInvoice',
      '/lnrpc.Lightning/LookupInvoice',
    ]);
    expect(uris(['update_personal_note'])).toEqual(['/lnrpc.Lightning/GetInfo']);
  });

  test('only what sends can send, and only what bakes can bake', () => {
    const sending = ['/routerrpc.Router/SendPaymentV2', '/lnrpc.Lightning/SendCoins'];
    for (const permission of PERMISSIONS) {
      const methods = uris([permission]);
      const spends = permission === 'pay_invoice' || permission === 'pay_onchain';
      expect([permission, methods.some((method) => sending.includes(method))]).toEqual([
        permission,
        spends,
      ]);
      const bakes = permission === 'create_client' || permission === 'update_client';
      expect([permission, methods.includes('/lnrpc.Lightning/BakeMacaroon')]).toEqual([
        permission,
        bakes,
      ]);
    }
    const follows = operationsToFollow().map(({ action }) => action);
    expect(follows.some((method) => /Send|Add|Bake|Delete|Open|Close|New/.test(method))).toBe(
      false,
    );
  });

  test('a macaroon for a grant is good for that grant and for no permission that needs more', () => {
    const granted = ['node_info', 'create_invoice'] as const;
    const found = permissionsOf(operationsFor([...granted]));
    expect(found).toEqual(expect.arrayContaining([...granted]));
    for (const absent of ['pay_invoice', 'pay_onchain', 'create_client', 'open_channel'] as const) {
      expect(found).not.toContain(absent);
    }
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
    const found = permissionsOf(readonly);
    expect(found).toContain('get_updated_payments');
    expect(found).not.toContain('create_invoice');
    expect(found).not.toContain('pay_onchain');
  });

  test('who may bake may do everything, so it is granted with everything only', () => {
    expect(bakingBeyondFull(['create_client'])).toBe('create_client');
    expect(bakingBeyondFull(['revoke_client', 'list_clients'])).toBeNull();
    expect(bakingBeyondFull(PERMISSIONS)).toBeNull();
  });
});
