import { expect, test } from 'bun:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import fc from 'fast-check';
import { decodeBolt11, encodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { isByOwnKey } from '../../src/codecs/bolt11/payee.ts';

const { Point, Signature } = secp256k1;
const ORDER = Point.Fn.ORDER;
const KEY = new Uint8Array(32).fill(7);
const OWN = hex.encode(secp256k1.getPublicKey(KEY));

/** What is recovered; null where nothing is. */
function recovered(compact: Uint8Array, recovery: number, digest: Uint8Array): string | null {
  try {
    const signature = Signature.fromBytes(compact, 'compact').addRecoveryBit(recovery);
    return signature.recoverPublicKey(digest).toHex(true);
  } catch {
    return null;
  }
}

/** Asks for the key until it has a table, which takes no valid signature. */
function makeTable(key: string): void {
  for (let use = 0; use < 9; use++) isByOwnKey(key, new Uint8Array(64), 0, new Uint8Array(32));
}

function signed(digest: Uint8Array, secretKey: Uint8Array) {
  const bytes = secp256k1.sign(digest, secretKey, { prehash: false, format: 'recovered' });
  return { recovery: bytes[0] ?? 0, compact: bytes.subarray(1) };
}

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('a signature is by the own key exactly where that key is recovered from it', () => {
  makeTable(OWN);
  fc.assert(
    fc.property(bytes32, bytes32, fc.nat(3), fc.boolean(), (digest, other, id, isHigh) => {
      const { compact, recovery } = signed(digest, KEY);
      expect(isByOwnKey(OWN, compact, recovery, digest)).toBe(true);
      const { r, s } = Signature.fromBytes(compact, 'compact');
      const high = new Signature(r, ORDER - s).toBytes('compact');
      expect(isByOwnKey(OWN, high, recovery ^ 1, digest)).toBe(true);
      const some = isHigh ? high : compact;
      for (const of of [digest, other]) {
        expect(isByOwnKey(OWN, some, id, of)).toBe(recovered(some, id, of) === OWN);
      }
      const strange = new Uint8Array([...other, ...digest]);
      expect(isByOwnKey(OWN, strange, id, digest)).toBe(recovered(strange, id, digest) === OWN);
    }),
    { numRuns: 60 },
  );
});

test('what is no signature, key or digest is by no key', () => {
  makeTable(OWN);
  const digest = new Uint8Array(32).fill(1);
  const { compact, recovery } = signed(digest, KEY);
  const scalar = (value: bigint) => hex.decode(value.toString(16).padStart(64, '0'));
  const [r, s] = [compact.subarray(0, 32), compact.subarray(32)];
  for (const [first, second] of [
    [scalar(0n), s],
    [r, scalar(0n)],
    [scalar(ORDER), s],
    [r, scalar(ORDER)],
  ] as const) {
    const wrong = new Uint8Array([...first, ...second]);
    expect(isByOwnKey(OWN, wrong, recovery, digest)).toBe(false);
  }
  expect(isByOwnKey(OWN, compact.subarray(1), recovery, digest)).toBe(false);
  for (const key of ['', 'no key', `02${'ff'.repeat(32)}`]) {
    makeTable(key);
    expect(isByOwnKey(key, compact, recovery, digest)).toBe(false);
  }
});

test('an invoice tells the same payee, whatever key is expected, and however often', () => {
  const terms = { network: 'regtest', amountMsat: 1n, paymentSecret: '11'.repeat(32) } as const;
  for (let secs = 1; secs < 30; secs++) {
    const fields = { ...terms, timestampSecs: secs, paymentHash: '22'.repeat(32), description: '' };
    const stranger = new Uint8Array(32).fill(secs);
    const payee = hex.encode(secp256k1.getPublicKey(stranger));
    for (const [secretKey, expected] of [
      [KEY, OWN],
      [stranger, payee],
    ] as const) {
      const text = encodeBolt11(fields, secretKey);
      expect(decodeBolt11(text, { ownKey: OWN }).payeePubkey).toBe(expected);
    }
  }
});
