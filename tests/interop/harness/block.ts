import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { Transaction } from '@scure/btc-signer';

/** Fields of the newest block as `getblockheader` answers them. */
export interface Tip {
  readonly hash: string;
  readonly height: number;
  /** The compact target in hex, in the byte order of display. */
  readonly bits: string;
}

/** A block in hex for `submitblock`, and its hash. */
export interface MinedBlock {
  readonly block: string;
  readonly hash: string;
}

const VERSION = 0x20000000;
const HEADER_BYTES = 80;
const NONCE_AT = 76;
const NOTHING = new Uint8Array(32);

/**
 * Makes the block after `tip`, with a chosen timestamp, a coinbase that pays to no key, and one transaction at most.
 * btcd itself uses the present time and every transaction that it knows.
 */
export function blockAfter(
  { hash, height, bits }: Tip,
  timestampSecs: number,
  transaction?: Uint8Array,
): MinedBlock {
  const coinbase = coinbaseAt(height + 1, transaction && commitmentTo(transaction));
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  const bytes = new Uint8Array(header.buffer);
  header.setUint32(0, VERSION, true);
  bytes.set(hex.decode(hash).reverse(), 4);
  bytes.set(merkleRoot(coinbase.txid, transaction && txidOf(transaction)), 36);
  header.setUint32(68, timestampSecs, true);
  header.setUint32(72, Number.parseInt(bits, 16), true);
  // Regtest's target requires only that the highest bit is zero.
  for (let nonce = 0; ((twice(bytes)[31] ?? 0) & 0x80) !== 0; nonce++) {
    header.setUint32(NONCE_AT, nonce, true);
  }
  const transactions = transaction ? [coinbase.raw, transaction] : [coinbase.raw];
  return {
    block: hex.encode(concatBytes(bytes, Uint8Array.of(transactions.length), ...transactions)),
    hash: hex.encode(twice(bytes).reverse()),
  };
}

/** BIP 141: the output by which a coinbase commits to the witnesses of the block's transactions. */
function commitmentTo(transaction: Uint8Array): Uint8Array {
  const root = merkleRoot(NOTHING, twice(transaction));
  return concatBytes(hex.decode('6a24aa21a9ed'), twice(concatBytes(root, NOTHING)));
}

function txidOf(transaction: Uint8Array): Uint8Array {
  return hex.decode(Transaction.fromRaw(transaction, { allowUnknownOutputs: true }).id).reverse();
}

function merkleRoot(coinbase: Uint8Array, other: Uint8Array | undefined): Uint8Array {
  return other ? twice(concatBytes(coinbase, other)) : coinbase;
}

/** BIP 34: the coinbase begins with the height. With a commitment it has a witness of 32 zero bytes (BIP 141). */
function coinbaseAt(height: number, commitment: Uint8Array | undefined) {
  const number = scriptNumber(height);
  const script = Uint8Array.of(number.length, ...number);
  const output = (outputScript: Uint8Array) =>
    concatBytes(new Uint8Array(8), Uint8Array.of(outputScript.length), outputScript);
  const outputs = [hex.decode('51'), ...(commitment ? [commitment] : [])].map(output);
  const version = hex.decode('01000000');
  const lockTime = new Uint8Array(4);
  const inputsAndOutputs = concatBytes(
    hex.decode(`01${'00'.repeat(32)}ffffffff`),
    Uint8Array.of(script.length),
    script,
    hex.decode('ffffffff'),
    Uint8Array.of(outputs.length),
    ...outputs,
  );
  const plain = concatBytes(version, inputsAndOutputs, lockTime);
  const witness = concatBytes(hex.decode('0120'), NOTHING);
  const raw = commitment
    ? concatBytes(version, hex.decode('0001'), inputsAndOutputs, witness, lockTime)
    : plain;
  return { raw, txid: twice(plain) };
}

/** A number as scripts have it, in no more bytes than it needs, which btcd requires; the highest bit is the sign. */
function scriptNumber(value: number): readonly number[] {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest >>= 8) bytes.push(rest & 0xff);
  return (bytes.at(-1) ?? 0) >= 0x80 ? [...bytes, 0] : bytes;
}

function twice(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes));
}
