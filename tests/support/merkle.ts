import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';

/** The hash of Bitcoin. */
export const hashed = (bytes: Uint8Array) => sha256(sha256(bytes));
/** A hash as explorers write it. */
export const shown = (hash: Uint8Array) => hex.encode(Uint8Array.from(hash).reverse());
/** A hash as blocks and transactions hold it. */
export const wire = (txid: string) => hex.decode(txid).reverse();

/** Four bytes, the lowest first. */
export function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** The levels of the tree over these transactions; the last one is the root alone. */
function merkleLevels(txids: readonly string[]): Uint8Array[][] {
  let level: Uint8Array[] = txids.map(wire);
  const levels = [level];
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const left = level[at] ?? new Uint8Array();
      above.push(hashed(concatBytes(left, level[at + 1] ?? left)));
    }
    level = above;
    levels.push(level);
  }
  return levels;
}

/** The root of the tree over these transactions. */
export function merkleRoot(txids: readonly string[]): Uint8Array {
  return merkleLevels(txids).at(-1)?.[0] ?? new Uint8Array(32);
}

interface Block {
  readonly height: number;
  readonly header: Uint8Array;
  readonly txids: readonly string[];
}

/** The proof of BIP 37 that a block holds one transaction. */
export function merkleBlock({ header, txids }: Block, txid: string): string {
  const levels = merkleLevels(txids);
  const at = txids.indexOf(txid);
  const bits: boolean[] = [];
  const hashes: Uint8Array[] = [];
  const walk = (level: number, position: number) => {
    const holds = at >> level === position;
    bits.push(holds);
    if (level === 0 || !holds) {
      hashes.push(levels[level]?.[position] ?? new Uint8Array(32));
      return;
    }
    walk(level - 1, position * 2);
    if (position * 2 + 1 < (levels[level - 1]?.length ?? 0)) walk(level - 1, position * 2 + 1);
  };
  walk(levels.length - 1, 0);
  const flags = new Uint8Array(Math.ceil(bits.length / 8));
  bits.forEach((bit, index) => {
    flags[index >> 3] = (flags[index >> 3] ?? 0) | (Number(bit) << (index & 7));
  });
  return hex.encode(
    concatBytes(
      ...[header, uint32(txids.length), Uint8Array.of(hashes.length), ...hashes],
      ...[Uint8Array.of(flags.length), flags],
    ),
  );
}

/** The proof of Esplora that a block holds one transaction. */
export function merkleProof({ height, txids }: Block, txid: string) {
  const levels = merkleLevels(txids);
  const pos = txids.indexOf(txid);
  const merkle = levels
    .slice(0, -1)
    .map((level, depth) =>
      shown(level[(pos >> depth) ^ 1] ?? level[pos >> depth] ?? new Uint8Array()),
    );
  return { block_height: height, merkle, pos };
}
