import { hex } from '@scure/base';
import { RawTx, Transaction } from '@scure/btc-signer';
import { encodeAddress } from '../../../src/codecs/address.ts';

/** How the tests read PSBTs and transactions. */
export const LENIENT = {
  allowUnknown: true,
  allowUnknownInputs: true,
  allowUnknownOutputs: true,
  disableScriptCheck: true,
} as const;

/** A transaction that spends a coin of others. */
export function foreignTransaction(
  outputs: { script: Uint8Array; amount: bigint }[],
  seed: number,
): string {
  return spendingTransaction([`${hex.encode(new Uint8Array(32).fill(seed + 1))}:0`], outputs);
}

/** A transaction that spends these outpoints. */
export function spendingTransaction(
  outpoints: readonly string[],
  outputs: { script: Uint8Array; amount: bigint }[],
  form: { lockTime?: number; sequence?: number; script?: Uint8Array } = {},
): string {
  const { lockTime = 0, sequence = 0xfffffffd, script = new Uint8Array(64) } = form;
  return hex.encode(
    RawTx.encode({
      version: 2,
      segwitFlag: true,
      inputs: outpoints.map((outpoint) => ({
        txid: hex.decode(outpoint.split(':')[0] ?? ''),
        index: Number(outpoint.split(':')[1]),
        finalScriptSig: new Uint8Array(),
        sequence,
      })),
      outputs,
      witnesses: outpoints.map(() => [new Uint8Array(71), script]),
      lockTime,
    }),
  );
}

export function idOf(raw: string): string {
  return Transaction.fromRaw(hex.decode(raw), LENIENT).id;
}

export function inputsOf(raw: Uint8Array): string[] {
  return RawTx.decode(raw).inputs.map(({ txid, index }) => `${hex.encode(txid)}:${index}`);
}

export function addressOf(script: Uint8Array): string {
  return encodeAddress(script, 'regtest') ?? '';
}
