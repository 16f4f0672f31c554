import { expect, test } from 'bun:test';
import { hkdfSync } from 'node:crypto';
import { encrypt } from '../../src/lib/secrets/aes-gcm.ts';
import { keyIdOf, SealBroken, sealer } from '../../src/lib/secrets/seal.ts';

const key = (fill: number) => new Uint8Array(32).fill(fill);
const PLACE = { table: 'client', column: 'sealed_token', row: ['ab', 'cd'] };
const one = sealer(key(1));

test('a sealed value opens at its place with its key, and tells nothing of the text or the key', () => {
  const sealed = one.seal('a macaroon', PLACE);
  expect(one.open(sealed, PLACE)).toBe('a macaroon');
  expect(sealed).not.toContain('macaroon');
  expect(sealed).not.toContain('01'.repeat(8));
  expect(one.seal('a macaroon', PLACE)).not.toBe(sealed);
  expect(keyIdOf(sealed)).toBe(one.keyId);
  expect(one.open(one.seal('', PLACE), PLACE)).toBe('');
});

test('the key of a value is the HKDF-SHA256 of its salt, as node:crypto makes it', () => {
  const salt = new Uint8Array(16).fill(3);
  const own = Buffer.from(hkdfSync('sha256', key(1), salt, 'wallet-sidecar/sealed-value', 32));
  const bound = Buffer.from(JSON.stringify([PLACE.table, PLACE.column, ...PLACE.row]));
  const bytes = Buffer.concat([salt, encrypt('a macaroon', own, bound)]);
  expect(one.open(`s1.${one.keyId}.${bytes.toString('base64url')}`, PLACE)).toBe('a macaroon');
});

test('a value that was moved to another row, column, table or wallet does not open', () => {
  const sealed = one.seal('a macaroon', PLACE);
  for (const place of [
    { ...PLACE, table: 'idempotency' },
    { ...PLACE, column: 'sealed_body' },
    { ...PLACE, row: ['ef', 'cd'] },
    { ...PLACE, row: ['ab', 'ef'] },
    { ...PLACE, row: ['abcd'] },
    { ...PLACE, column: 'sealed_token","ab', row: ['cd'] },
  ]) {
    expect(() => one.open(sealed, place)).toThrow(SealBroken);
  }
});

test('a value that was changed, or sealed with another key, does not open', () => {
  const sealed = one.seal('a macaroon', PLACE);
  const [version, id, text = ''] = sealed.split('.');
  const bytes = Buffer.from(text, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const value = `${version}.${id}.${changed.toString('base64url')}`;
    expect(() => one.open(value, PLACE)).toThrow(SealBroken);
  }
  for (const value of ['', 'a macaroon', `s1.${id}.`, `s2.${id}.${text}`, text]) {
    expect(() => one.open(value, PLACE)).toThrow(SealBroken);
  }
  expect(() => sealer(key(2)).open(sealed, PLACE)).toThrow(SealBroken);
  const forged = sealed.replace(one.keyId, sealer(key(2)).keyId);
  expect(() => sealer(key(2)).open(forged, PLACE)).toThrow(SealBroken);
});

test('the error of a value that does not open names the column and nothing of the value', () => {
  const broken = () => one.open('s1.aa.c2VjcmV0', PLACE);
  expect(broken).toThrow(/client\.sealed_token does not open with --secrets-key/);
  expect(broken).not.toThrow(/c2VjcmV0/);
});

test('a text that is not sealed has no key id', () => {
  expect([keyIdOf('{"a":1}'), keyIdOf(''), keyIdOf('s1')]).toEqual([null, null, null]);
});
