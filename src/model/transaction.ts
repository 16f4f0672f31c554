import { hex } from '@scure/base';
import { RawTx } from '@scure/btc-signer';
import type { TransactionJson } from './payment.ts';

/** Confirmations after which an on-chain payment is final (docs/api.md, Payment status). */
export const FINAL_CONFIRMATIONS = 6;

/** Returns a transaction as answers show it; null for hex that cannot be read, so that its payment is still shown. */
export function shownTransaction(rawHex: string): TransactionJson | null {
  try {
    return transactionJsonOf(hex.decode(rawHex));
  } catch {
    return null;
  }
}

/** Converts a serialized transaction (BIP 144) to the form of answers. Throws for bytes that are not a transaction. */
export function transactionJsonOf(raw: Uint8Array): TransactionJson {
  return decodedTransactionJson(RawTx.decode(raw));
}

/** Converts a decoded transaction to the form of answers. */
export function decodedTransactionJson(parsed: ReturnType<typeof RawTx.decode>): TransactionJson {
  return {
    version: parsed.version,
    lock_time: parsed.lockTime,
    input: parsed.inputs.map(({ txid, index, finalScriptSig, sequence }, i) => ({
      previous_output: `${hex.encode(txid)}:${index}`,
      script_sig: hex.encode(finalScriptSig),
      sequence,
      witness: (parsed.witnesses?.[i] ?? []).map((item) => hex.encode(item)),
    })),
    output: parsed.outputs.map(({ amount, script }) => ({
      value: Number(amount),
      script_pubkey: hex.encode(script),
    })),
  };
}
