import { base64, hex } from '@scure/base';
import { Transaction } from '@scure/btc-signer';
import { LENIENT } from '../../remote/orders/psbt.ts';

/** Reads and writes the PSBTs that Core Lightning's wallet uses; pure. */

const OPTIONS = { ...LENIENT, allowLegacyWitnessUtxo: true } as const;

/** A script that pays nobody. A PSBT that only names coins needs an output all the same. */
const NO_SCRIPT = Uint8Array.of(0x6a);

/** The signed transaction (hex) of a PSBT. Throws for one that is not signed in all inputs, or unreadable. */
export function finalizedTransaction(psbt: string): string {
  const transaction = Transaction.fromPSBT(base64.decode(psbt), OPTIONS);
  for (let at = 0; at < transaction.inputsLength; at++) {
    const { finalScriptWitness, witnessScript, partialSig } = transaction.getInput(at);
    if (finalScriptWitness?.length) continue;
    const [only] = partialSig ?? [];
    if (witnessScript && only) {
      // The output of a closed channel with anchors (BOLT 3, to_remote): its witness is the signature and the script.
      transaction.updateInput(at, { finalScriptWitness: [only[1], witnessScript] }, true);
    } else {
      transaction.finalizeIdx(at);
    }
  }
  return hex.encode(transaction.extract());
}

/** The PSBT (base64) of a signed transaction (hex), which can be published. */
export function psbtOf(txHex: string): string {
  return base64.encode(Transaction.fromRaw(hex.decode(txHex), OPTIONS).toPSBT(0));
}

/** A PSBT (base64) that names coins, by their outpoints, to reserve or release them. */
export function psbtNaming(outpoints: readonly string[]): string {
  const transaction = new Transaction(OPTIONS);
  for (const outpoint of outpoints) {
    const [txid = '', index = '0'] = outpoint.split(':');
    transaction.addInput({ txid, index: Number(index) });
  }
  transaction.addOutput({ script: NO_SCRIPT, amount: 0n });
  return base64.encode(transaction.toPSBT(0));
}
