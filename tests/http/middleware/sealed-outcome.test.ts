import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isSealed, seal, unseal } from '../../../src/http/middleware/sealed-outcome.ts';

const OWN = new Uint8Array(32).fill(1);
const OTHER = new Uint8Array(32).fill(2);
const BODY = '{"client_credentials":"a secret"}';

test('the same credential and Idempotency-Key open what they sealed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ minLength: 1 }), (body, key) => {
      const sealed = seal(body.toWellFormed(), OWN, key);
      expect(isSealed(sealed)).toBe(true);
      expect(unseal(sealed, OWN, key)).toBe(body.toWellFormed());
    }),
  );
});

test('another credential does not open it, nor another key of the same', () => {
  const sealed = seal(BODY, OWN, 'k');
  expect(unseal(sealed, OTHER, 'k')).toBeNull();
  expect(unseal(sealed, OWN, 'k2')).toBeNull();
  expect(unseal(sealed, OWN, '')).toBeNull();
});

test('the secret cannot be read in it, and the same body is sealed differently each time', () => {
  const sealed = seal(BODY, OWN, 'k');
  const bytes = Buffer.from(sealed.slice(sealed.indexOf(':') + 1), 'base64');
  for (const text of [sealed, bytes.toString('latin1')]) expect(text).not.toContain('secret');
  expect(seal(BODY, OWN, 'k')).not.toBe(sealed);
});

test('what was changed by one bit, or cut, opens to nothing and throws nothing', () => {
  const sealed = seal(BODY, OWN, 'k');
  const [prefix, data] = [
    sealed.slice(0, sealed.indexOf(':') + 1),
    sealed.slice(sealed.indexOf(':') + 1),
  ];
  const bytes = Buffer.from(data, 'base64');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(unseal(prefix + changed.toString('base64'), OWN, 'k')).toBeNull();
  }
  for (let length = 0; length < bytes.length; length++) {
    expect(unseal(prefix + bytes.subarray(0, length).toString('base64'), OWN, 'k')).toBeNull();
  }
});

test('JSON is never taken for something sealed', () => {
  for (const body of [BODY, '{}', '"sealed:"', 'null']) expect(isSealed(body)).toBe(false);
});
