import { p2wpkh, Transaction } from '@scure/btc-signer';
import { pubECDSA, randomPrivateKeyBytes } from '@scure/btc-signer/utils.js';

const REGTEST = { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef };
const FEE_SAT = 10_000n;
/** By this number of an input a transaction says that it may be replaced (BIP 125). */
const REPLACEABLE = 0xfffffffd;

/** An unspent output of the miner. */
export interface Coin {
  readonly txid: string;
  readonly index: number;
  readonly valueSat: bigint;
}

/** The address and the amount of a payment. */
export interface Output {
  readonly address: string;
  readonly amountSat: bigint;
}

/** The key to which blocks pay. */
export interface Miner {
  readonly address: string;
  /**
   * The signed transaction that spends `coin` on `outputs`; the change goes back to the miner. It may be replaced by
   * one with a higher fee.
   */
  pay(coin: Coin, outputs: readonly Output[], feeSat?: bigint): Uint8Array;
}

/** A miner with a fresh key. */
export function miner(): Miner {
  const key = randomPrivateKeyBytes();
  const { address, script } = p2wpkh(pubECDSA(key), REGTEST);
  if (address === undefined) throw new Error('The miner has no address; check @scure/btc-signer.');
  return {
    address,
    pay(coin, outputs, feeSat = FEE_SAT) {
      const transaction = new Transaction();
      transaction.addInput({
        txid: coin.txid,
        index: coin.index,
        sequence: REPLACEABLE,
        witnessUtxo: { script, amount: coin.valueSat },
      });
      let changeSat = coin.valueSat - feeSat;
      for (const output of outputs) {
        transaction.addOutputAddress(output.address, output.amountSat, REGTEST);
        changeSat -= output.amountSat;
      }
      if (changeSat < 0n) throw new Error('One coin of the miner does not cover these outputs.');
      transaction.addOutputAddress(address, changeSat, REGTEST);
      transaction.sign(key);
      transaction.finalize();
      return transaction.extract();
    },
  };
}
