import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';

/** Fields of the newest block as `getblockheader` answers them. */
export interface Tip {
  readonly hash: string;
  readonly height: number;
  /** The compact target in hex, in the byte order of display. */
  readonly bits: string;
}

const VERSION = 0x20000000;
const HEADER_BYTES = 80;
const NONCE_AT = 76;

/**
 * Makes the block after `tip`, with a chosen timestamp and only a coinbase, which pays to no key. btcd itself uses the
 * present time. Returns hex for `submitblock`.
 */
export function emptyBlock({ hash, height, bits }: Tip, timestampSecs: number): string {
  const coinbase = coinbaseAt(height + 1);
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  const bytes = new Uint8Array(header.buffer);
  header.setUint32(0, VERSION, true);
  bytes.set(hex.decode(hash).reverse(), 4);
  bytes.set(twice(coinbase), 36);
  header.setUint32(68, timestampSecs, true);
  header.setUint32(72, Number.parseInt(bits, 16), true);
  // Regtest's target requires only that the highest bit is zero.
  for (let nonce = 0; ((twice(bytes)[31] ?? 0) & 0x80) !== 0; nonce++) {
    header.setUint32(NONCE_AT, nonce, true);
  }
  return `${hex.encode(bytes)}01${hex.encode(coinbase)}`;
}

function coinbaseAt(height: number): Uint8Array {
  // BIP 34: the coinbase begins with the height.
  const script = new Uint8Array([3, height & 0xff, (height >> 8) & 0xff, (height >> 16) & 0xff]);
  return hex.decode(
    ['01000000', '01', '00'.repeat(32), 'ffffffff', '04', hex.encode(script), 'ffffffff']
      .concat(['01', '00'.repeat(8), '01', '51', '00000000'])
      .join(''),
  );
}

function twice(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes));
}
