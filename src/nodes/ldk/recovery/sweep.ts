import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import { RawTx, SigHash, Transaction } from '@scure/btc-signer';
import { virtualBytesOf } from '../../remote/orders/psbt.ts';
import type { ClosedOutput } from './closed-outputs.ts';

/** A coin that a closing left to us. */
export interface ClosedCoin {
  /** As `txid:vout`. */
  readonly outpoint: string;
  readonly valueSat: bigint;
  readonly output: ClosedOutput;
}

/** Below this an output is not relayed. */
const DUST_SAT = 546n;

/**
 * Returns the transaction (hex) that pays all coins, less the fee, to one script; null where the fee would leave less
 * than the network relays.
 */
export function sweepTransaction(
  coins: readonly ClosedCoin[],
  to: Uint8Array,
  satPerVbyte: number,
): { readonly txHex: string; readonly amountSat: bigint } | null {
  const totalSat = coins.reduce((sum, { valueSat }) => sum + valueSat, 0n);
  const size = virtualBytesOf(signed(coins, to, totalSat));
  // A signature may be a byte longer at the next try, which is a quarter of a virtual byte.
  const feeSat = (size + BigInt(coins.length)) * BigInt(Math.ceil(satPerVbyte));
  const amountSat = totalSat - feeSat;
  if (amountSat < DUST_SAT) return null;
  return { txHex: hex.encode(signed(coins, to, amountSat)), amountSat };
}

function signed(coins: readonly ClosedCoin[], to: Uint8Array, amountSat: bigint): Uint8Array {
  const transaction = new Transaction({
    ...{ version: 2, allowUnknownOutputs: true, allowUnknownInputs: true },
  });
  for (const { outpoint, valueSat, output } of coins) {
    const [txid = '', vout] = outpoint.split(':');
    transaction.addInput({
      ...{ txid, index: Number(vout), sequence: output.isAnchored ? 1 : 0xfffffffd },
      witnessUtxo: { script: output.script, amount: valueSat },
    });
  }
  transaction.addOutput({ script: to, amount: amountSat });
  const { inputs, outputs } = RawTx.decode(transaction.unsignedTx);
  const witnesses = coins.map(({ valueSat, output }, at) => {
    const { scriptCode, secretKey, publicKey, isAnchored } = output;
    const digest = transaction.preimageWitnessV0(at, scriptCode, SigHash.ALL, valueSat);
    const signature = secp256k1.sign(digest, secretKey, { prehash: false, format: 'der' });
    const withType = Uint8Array.of(...signature, SigHash.ALL);
    return [withType, isAnchored ? scriptCode : publicKey];
  });
  return RawTx.encode({ version: 2, segwitFlag: true, inputs, outputs, witnesses, lockTime: 0 });
}
