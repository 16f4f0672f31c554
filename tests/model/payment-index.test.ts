import { describe, expect, test } from 'bun:test';
import {
  paymentIndexInput,
  presentId,
  receiveId,
  updatedIndexInput,
  waivedFeeId,
} from '../../src/model/payment-index.ts';

const HEX = 'c02285ac3abee51c809bd31df1eb9ed9248b1d83d45b66a6fd15d34730b3b483';
const TXID = '83b4b33047d315fda6665bd4831d8b24d99eebf11dd39b801ce5be3aac8522c0';
/** SHA-256 of `waived fee`, {@link HEX} (the txid in wire byte order) and four zero bytes, by Python's hashlib. */
const PRESENT = 'or_d8e02863f35786562679718542580bbbd8c84db89398a082e559d38b4539c608';
const TIME = '0001700000000000000';

describe('payment ids', () => {
  test("of a waived fee are SHA-256 of `waived fee` and the funding outpoint in the transaction's bytes", () => {
    expect(waivedFeeId(TXID, 0)).toBe(PRESENT as never);
    expect(waivedFeeId(TXID, 1)).toBe(
      'or_56228a5d4080c18f5a119f253195c23e929eca12c6db29a3b90e9f0348b5115f' as never,
    );
    expect(waivedFeeId(TXID, 0)).not.toBe(receiveId(TXID, 0));
  });

  test.each(['ln', 'fs', 'fr', 'os', 'or'])(
    'have the prefix %s, and stay as they are',
    (prefix) => {
      const index = `${TIME}-${prefix}_${HEX}`;
      expect(paymentIndexInput().parse(index)).toBe(index as never);
      expect(updatedIndexInput().parse(`u${index}`)).toBe(`u${index}` as never);
      expect(presentId(index)).toBe(index);
    },
  );

  test('of the first versions are read as what they are called now', () => {
    const old = `${TIME}-wf_${HEX}`;
    expect(presentId<string>(`wf_${HEX}`)).toBe(PRESENT);
    expect(paymentIndexInput().parse(old)).toBe(`${TIME}-${PRESENT}` as never);
    expect(updatedIndexInput().parse(`u${old}`)).toBe(`u${TIME}-${PRESENT}` as never);
  });

  test.each([`${TIME}-xx_${HEX}`, `${TIME}-wf_${HEX}0`, `${TIME}-wf_${HEX.slice(2)}`])(
    '%s is none',
    (text) => {
      expect(paymentIndexInput().safeParse(text).success).toBe(false);
    },
  );
});
