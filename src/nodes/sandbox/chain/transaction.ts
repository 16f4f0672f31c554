import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { RawTx, Transaction } from '@scure/btc-signer';
import type { TransactionJson } from '../../../model/payment.ts';
import { decodedTransactionJson } from '../../../model/transaction.ts';
import { multisigOutput, type SingleKeyKind } from './keys.ts';

/** The keys that sign an input: one key, or the two keys of a funding output. */
type InputKeys =
  | { readonly kind: SingleKeyKind; readonly secretKey: Uint8Array }
  | { readonly kind: 'multisig'; readonly secretKeys: readonly [Uint8Array, Uint8Array] };

/** An output to spend. */
export interface TransactionInput {
  /** The txid in hex, in the usual display order. */
  readonly txid: string;
  readonly vout: number;
  readonly valueSat: bigint;
  readonly script: Uint8Array;
  readonly keys: InputKeys;
}

/** An output to make. */
export interface TransactionOutput {
  readonly script: Uint8Array;
  readonly valueSat: bigint;
}

/** A complete transaction. */
export interface SignedTransaction {
  readonly txid: string;
  /** Serialized with its witnesses (BIP 144). */
  readonly raw: Uint8Array;
  readonly vsize: number;
  readonly outputs: readonly TransactionOutput[];
  /** The form in which the Payment resource shows it. */
  readonly json: TransactionJson;
}

/**
 * The sequence of every input. It signals that the transaction may be replaced while unconfirmed (BIP 125), and leaves
 * the lock time in force.
 */
const REPLACEABLE_SEQUENCE = 0xfffffffd;

/**
 * Builds a version 2 transaction and signs every input. `lockTime` is the height of the chain, as wallets set it, so
 * that the transaction cannot be mined into an earlier block. `auxRand` is 32 bytes of fresh randomness for the Schnorr
 * signatures.
 */
export function signTransaction(options: {
  readonly inputs: readonly TransactionInput[];
  readonly outputs: readonly TransactionOutput[];
  readonly lockTime: number;
  readonly auxRand: Uint8Array;
}): SignedTransaction {
  const transaction = new Transaction({
    version: 2,
    lockTime: options.lockTime,
    // Payments may go to any witness version, also to those not defined yet (BIP 350).
    allowUnknownOutputs: true,
  });
  for (const { txid, vout, valueSat, script, keys } of options.inputs) {
    transaction.addInput({
      txid,
      index: vout,
      sequence: REPLACEABLE_SEQUENCE,
      witnessUtxo: { script, amount: valueSat },
      ...signingHints(keys),
    });
  }
  for (const { script, valueSat } of options.outputs) {
    transaction.addOutput({ script, amount: valueSat });
  }
  options.inputs.forEach(({ keys }, i) => {
    for (const secretKey of keys.kind === 'multisig' ? keys.secretKeys : [keys.secretKey]) {
      transaction.signIdx(secretKey, i, undefined, options.auxRand);
    }
  });
  transaction.finalize();
  return readTransaction(transaction.extract());
}

function signingHints(keys: InputKeys) {
  switch (keys.kind) {
    case 'p2wpkh':
      return {};
    case 'p2tr':
      return { tapInternalKey: secp256k1.getPublicKey(keys.secretKey, true).subarray(1) };
    case 'multisig': {
      const [a, b] = keys.secretKeys;
      const publicKeys = [
        secp256k1.getPublicKey(a, true),
        secp256k1.getPublicKey(b, true),
      ] as const;
      return { witnessScript: multisigOutput(publicKeys).witnessScript };
    }
  }
}

/** The previous output of a coinbase transaction's input, which does not exist. */
export const COINBASE_OUTPOINT = `${'00'.repeat(32)}:${0xffffffff}`;

/** Returns a transaction that makes new coins. Its input holds the height of its block (BIP 34). */
export function coinbaseTransaction(
  height: number,
  outputs: readonly TransactionOutput[],
): SignedTransaction {
  const heightPush = Uint8Array.of(2, height & 0xff, height >> 8);
  const raw = RawTx.encode({
    version: 2,
    segwitFlag: false,
    inputs: [
      {
        txid: new Uint8Array(32),
        index: 0xffffffff,
        finalScriptSig: heightPush,
        sequence: 0xffffffff,
      },
    ],
    outputs: outputs.map(({ script, valueSat }) => ({ script, amount: valueSat })),
    lockTime: 0,
  });
  return readTransaction(raw);
}

/** Reads a signed transaction (BIP 144). Throws for other bytes. */
export function readTransaction(raw: Uint8Array): SignedTransaction {
  const parsed = RawTx.decode(raw);
  // The witnesses are no part of the txid, and count a quarter (BIP 141).
  const stripped = RawTx.encode({ ...parsed, segwitFlag: false });
  return {
    txid: hex.encode(sha256(sha256(stripped)).reverse()),
    raw,
    vsize: Math.ceil((3 * stripped.length + raw.length) / 4),
    outputs: parsed.outputs.map(({ amount, script }) => ({ valueSat: amount, script })),
    json: decodedTransactionJson(parsed),
  };
}
