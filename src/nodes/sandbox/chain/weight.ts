import type { Priority } from '../../../model/payment.ts';

/** Weight units in one virtual byte (BIP 141). */
const WEIGHT_PER_VBYTE = 4;

/**
 * Fee rates of the simulated chain for each priority, in satoshis per virtual byte. They are fixed, because the
 * simulated chain is never full, so that tests can compute every fee.
 */
export const FEE_RATES: Readonly<Record<Priority, number>> = { high: 12, normal: 5, background: 1 };

/** Weight of the version, the lock time, the counts of inputs and outputs, and the segwit marker and flag (BIP 144). */
const TRANSACTION_OVERHEAD_WEIGHT = 42;
/** Weight of the outpoint, the empty script_sig and the sequence of an input. */
const INPUT_BASE_WEIGHT = 41 * WEIGHT_PER_VBYTE;

/** The kinds of output this program can spend. */
export type SpendKind = 'p2wpkh' | 'p2tr' | 'multisig';

/** Weight of an input with its witness. Signatures count with their largest size, so that a fee is never too low. */
export const INPUT_WEIGHTS: Readonly<Record<SpendKind, number>> = {
  // Item count, 72-byte DER signature with its sighash byte, public key, each with its length.
  p2wpkh: INPUT_BASE_WEIGHT + 1 + 73 + 34,
  // Item count, 64-byte Schnorr signature with its length.
  p2tr: INPUT_BASE_WEIGHT + 1 + 65,
  // Item count, the empty item that OP_CHECKMULTISIG drops, two DER signatures and the 71-byte script with their
  // lengths.
  multisig: INPUT_BASE_WEIGHT + 1 + 1 + 2 * 73 + 72,
};

function outputWeight(script: Uint8Array): number {
  return (8 + 1 + script.length) * WEIGHT_PER_VBYTE;
}

/** Returns the virtual bytes of a transaction; never less than the signed transaction has. */
export function transactionVsize(
  inputs: readonly SpendKind[],
  scripts: readonly Uint8Array[],
): number {
  return vsizeOf(inputs.reduce((sum, kind) => sum + INPUT_WEIGHTS[kind], frameWeight(scripts)));
}

/** Returns the weight of a transaction with these outputs and no inputs. */
export function frameWeight(scripts: readonly Uint8Array[]): number {
  return scripts.reduce((sum, script) => sum + outputWeight(script), TRANSACTION_OVERHEAD_WEIGHT);
}

/** Returns the virtual bytes of that weight (BIP 141). */
export function vsizeOf(weight: number): number {
  return Math.ceil(weight / WEIGHT_PER_VBYTE);
}
