import { base64, hex } from '@scure/base';
import { RawTx, Transaction } from '@scure/btc-signer';
import { encodeAddress } from '../../../codecs/address.ts';
import type { Network } from '../../../codecs/network.ts';

/** Reads whatever a node signs, also scripts that are not known here. */
export const LENIENT = {
  allowUnknown: true,
  allowUnknownInputs: true,
  allowUnknownOutputs: true,
  disableScriptCheck: true,
} as const;

interface Outline {
  /** `<txid>:<vout>` of every coin that is spent. */
  readonly inputs: readonly string[];
  readonly outputs: readonly { readonly amountSat: bigint; readonly script: string }[];
}

/** A transaction that is ready to be signed. */
export interface FundedTransaction extends Outline {
  /** The fee in satoshis: inputs less outputs. */
  readonly feeSat: bigint;
}

/** Returns what a transaction pays to all its outputs, in satoshis. */
export function paidSatOf({ outputs }: Pick<Outline, 'outputs'>): bigint {
  return outputs.reduce((sum, { amountSat }) => sum + amountSat, 0n);
}

/** Reads a PSBT (base64). Throws RangeError when it does not state the amount of every input. */
export function readPsbt(psbt: string): FundedTransaction {
  const transaction = Transaction.fromPSBT(base64.decode(psbt), LENIENT);
  const outline = outlineOf(transaction.unsignedTx);
  const spentSat = outline.inputs.reduce((sum, _, at) => {
    const amount = transaction.getInput(at).witnessUtxo?.amount;
    if (amount === undefined) throw new RangeError('an input does not say what it holds');
    return sum + amount;
  }, 0n);
  const feeSat = spentSat - paidSatOf(outline);
  if (outline.inputs.length === 0 || feeSat < 0n) throw new RangeError('it is not funded');
  return { ...outline, feeSat };
}

/** Returns the coins that a signed transaction (hex) spends. */
export function spentOutpoints(txHex: string): readonly string[] {
  return outlineOf(hex.decode(txHex)).inputs;
}

/** Returns the txid of a signed transaction (hex). */
export function txidOf(txHex: string): string {
  return Transaction.fromRaw(hex.decode(txHex), LENIENT).id;
}

/** Returns the fee of a weight, in satoshis, rounded down. */
export function feeSatOf(weight: bigint, satPerKw: bigint): bigint {
  return (weight * satPerKw) / 1000n;
}

/** Returns the virtual bytes of a transaction: four units of its weight each (BIP 141). */
export function virtualBytesOf(raw: Uint8Array): bigint {
  return (weightOf(raw) + 3n) / 4n;
}

/** Returns the weight of a transaction: a byte of its witness counts for one, every other byte for four (BIP 141). */
export function weightOf(raw: Uint8Array): bigint {
  const { version, inputs, outputs, lockTime } = RawTx.decode(raw);
  const stripped = RawTx.encode({ version, segwitFlag: false, inputs, outputs, lockTime });
  return BigInt(3 * stripped.length + raw.length);
}

/** Returns whether a signed transaction (hex) has the same inputs and outputs as the funded one. */
export function isSameTransaction(funded: Outline, txHex: string): boolean {
  const { inputs, outputs } = outlineOf(hex.decode(txHex));
  const text = (outline: Outline) =>
    [
      ...outline.inputs,
      ...outline.outputs.map(({ amountSat, script }) => `${amountSat} ${script}`),
    ].join();
  return text({ inputs, outputs }) === text(funded);
}

/** Returns whether an output pays exactly that amount to the address. */
export function pays(
  { outputs }: Outline,
  address: string,
  amountSat: bigint,
  network: Network,
): boolean {
  return outputs.some(
    (output) =>
      output.amountSat === amountSat &&
      encodeAddress(hex.decode(output.script), network)?.toLowerCase() === address.toLowerCase(),
  );
}

/** Reads the coins and outputs of a transaction, signed or not. */
export function outlineOf(raw: Uint8Array): Outline {
  const { inputs, outputs } = RawTx.decode(raw);
  return {
    inputs: inputs.map(({ txid, index }) => `${hex.encode(txid)}:${index}`),
    outputs: outputs.map(({ amount, script }) => ({
      amountSat: amount,
      script: hex.encode(script),
    })),
  };
}
