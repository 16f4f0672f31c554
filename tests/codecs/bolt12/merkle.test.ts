import { describe, expect, test } from 'bun:test';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import {
  branchHash,
  foldTree,
  leafHash,
  merkleRoot,
  nonceHashes,
} from '../../../src/codecs/bolt12/index.ts';
import { decodeTlvStream, encodeTlvStream } from '../../../src/codecs/tlv.ts';
import vectors from '../../vectors/bolt12-signature-test.json';

const invalid = (problem: string): never => {
  throw new Error(problem);
};

/** Returns the records of a vector, which are in the names of its leaf hashes, and those hashes. */
function leavesOf(vector: (typeof vectors)[number]) {
  return vector.leaves.map((leaf) => {
    const entries = Object.entries(leaf);
    const hashOf = (start: string) => entries.find(([key]) => key.startsWith(start));
    const [leafKey, leafValue] = hashOf('H(`LnLeaf`') ?? invalid('a vector without a leaf');
    const hex = /,([0-9a-f]+)\)/.exec(leafKey)?.[1] ?? invalid('a leaf without a record');
    const [record] = decodeTlvStream(hexToBytes(hex), invalid);
    return {
      record: record ?? invalid('an empty record'),
      leaf: leafValue,
      nonce: hashOf('H(`LnNonce`')?.[1],
      node: hashOf('H(`LnBranch`')?.[1],
    };
  });
}

describe.each(vectors)('signature-test.json: $comment', (vector) => {
  const leaves = leavesOf(vector);
  const [first] = leaves;
  const nonceHash = nonceHashes(first?.record ?? invalid('no leaves'));

  test('leaf, nonce and branch hashes are those stated', () => {
    for (const { record, leaf, nonce, node } of leaves) {
      const leafBytes = leafHash(record);
      const nonceBytes = nonceHash(record.type);
      expect(bytesToHex(leafBytes)).toBe(leaf);
      expect(bytesToHex(nonceBytes)).toBe(String(nonce));
      expect(bytesToHex(branchHash(leafBytes, nonceBytes))).toBe(String(node));
    }
  });

  test('each branch above the leaves is that stated', () => {
    for (const { desc, ...branch } of vector.branches) {
      for (const [inputs, hash] of Object.entries<string | undefined>(branch)) {
        const [, left = '', right = ''] =
          /^H\(`LnBranch`,([0-9a-f]{64})([0-9a-f]{64})\)$/.exec(inputs) ?? [];
        const joined = bytesToHex(branchHash(hexToBytes(left), hexToBytes(right)));
        expect([desc, joined]).toEqual([desc, hash ?? '']);
      }
    }
    expect(vector.branches).toHaveLength(leaves.length - 1);
  });

  test('its first record is that stated, in the order of the stream', () => {
    const records = leaves.map(({ record }) => record);
    expect(bytesToHex(encodeTlvStream(records))).toStartWith(vector['first-tlv']);
  });

  test('the merkle root is that stated', () => {
    const root = merkleRoot(leaves.map(({ record }) => record));
    expect(bytesToHex(root ?? new Uint8Array())).toBe(vector.merkle);
  });
});

describe('merkle trees', () => {
  test('signature fields are in no tree', () => {
    const field = { type: 1n, value: Uint8Array.of(1) };
    const signatures = [240n, 241n, 1000n].map((type) => ({ type, value: Uint8Array.of(9) }));
    expect(merkleRoot([field, ...signatures])).toEqual(merkleRoot([field]));
    expect(merkleRoot(signatures)).toBeNull();
  });

  test('no records have no root', () => {
    expect(merkleRoot([])).toBeNull();
  });

  test.each([
    [['1'], '1'],
    [['1', '2', '3'], '((12)3)'],
    [['1', '2', '3', '4', '5', '6', '7'], '(((12)(34))((56)7))'],
    [['1', '2', '3', '4', '5', '6'], '(((12)(34))(56))'],
  ])('%p folds to %s: the deep side is on the low types', (leaves, shape) => {
    const [first = '', ...rest] = leaves;
    expect(foldTree([first, ...rest], (left, right) => `(${left}${right})`)).toBe(shape);
  });

  test('subtrees are joined left first, then right, then their parent', () => {
    const joined: string[] = [];
    foldTree(['1', '2', '3', '4', '5', '6', '7'], (left, right) => {
      joined.push(left + right);
      return left + right;
    });
    expect(joined).toEqual(['12', '34', '1234', '56', '567', '1234567']);
  });
});
