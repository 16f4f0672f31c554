import { randomBytes } from 'node:crypto';
import { Address, OutScript, p2wpkh, Transaction } from '@scure/btc-signer';
import { newIdentity } from './identity.ts';
import { LndError } from './rpc.ts';

/** Keys, addresses and signatures of the fake's wallet. They are real, on regtest. */

const REGTEST = { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef } as const;
const PARSE = { allowUnknownOutputs: true, allowUnknownInputs: true, disableScriptCheck: true };
/** The sequence of every input, which says that the transaction may be replaced (BIP 125). */
const SEQUENCE = 0xfffffffd;

/** An output that the wallet can spend. */
export interface Coin {
  /** `<txid>:<vout>` */
  readonly outpoint: string;
  readonly valueSat: bigint;
  /** The output's script, hex. */
  readonly script: string;
  readonly address: string;
  readonly confirmations: number;
}

export interface Output {
  /** The output's script, hex. */
  readonly script: string;
  readonly valueSat: bigint;
}

/** A P2WPKH key with its address. */
export interface AddressKey {
  readonly address: string;
  readonly script: string;
  readonly secretKey: Uint8Array;
}

export function newAddressKey(): AddressKey {
  const { secretKey, pubkey } = newIdentity();
  const { address = '', script } = p2wpkh(Buffer.from(pubkey, 'hex'), REGTEST);
  return { address, script: Buffer.from(script).toString('hex'), secretKey };
}

/** The script of an address. Throws LND's error for an address of another network. */
export function scriptOf(address: string): string {
  try {
    return Buffer.from(OutScript.encode(Address(REGTEST).decode(address))).toString('hex');
  } catch {
    throw new LndError(`address: ${address} is not valid for this network: regtest`);
  }
}

/** The address of a script; empty for scripts without an address. */
export function addressOf(script: string): string {
  try {
    return Address(REGTEST).encode(OutScript.decode(Buffer.from(script, 'hex')));
  } catch {
    return '';
  }
}

/** The fee in satoshis of a transaction with that many inputs and outputs, at a rate. */
export function feeSatOf(inputs: number, outputs: number, satPerKw: bigint): bigint {
  const vbytes = BigInt(11 + inputs * 68 + outputs * 43);
  return (vbytes * 4n * satPerKw + 999n) / 1000n;
}

/** An unsigned transaction that spends these coins. */
export function draft(
  coins: readonly Coin[],
  outputs: readonly Output[],
  lockTime: number,
): Transaction {
  const transaction = new Transaction({ ...PARSE, version: 2, lockTime });
  for (const { outpoint, script, valueSat } of coins) {
    const [txid = '', index] = outpoint.split(':');
    transaction.addInput({
      ...{ txid, index: Number(index), sequence: SEQUENCE },
      witnessUtxo: { script: Buffer.from(script, 'hex'), amount: valueSat },
    });
  }
  for (const { script, valueSat } of outputs) {
    transaction.addOutput({ script: Buffer.from(script, 'hex'), amount: valueSat });
  }
  return transaction;
}

/** Signs the inputs with the keys of their scripts, and finalizes. Throws LND's error for a script without a key. */
export function signAll(transaction: Transaction, keys: ReadonlyMap<string, AddressKey>): void {
  for (let i = 0; i < transaction.inputsLength; i++) {
    const script = transaction.getInput(i).witnessUtxo?.script;
    const key = script && keys.get(Buffer.from(script).toString('hex'));
    if (!key) throw new LndError('error finalizing PSBT: input is not ours');
    transaction.signIdx(key.secretKey, i);
  }
  transaction.finalize();
}

export function readPsbt(bytes: Uint8Array): Transaction {
  try {
    return Transaction.fromPSBT(bytes, PARSE);
  } catch (error) {
    throw new LndError(`could not parse PSBT: ${(error as Error).message}`);
  }
}

export function readRaw(bytes: Uint8Array): Transaction {
  try {
    return Transaction.fromRaw(bytes, PARSE);
  } catch {
    throw new LndError('unexpected EOF');
  }
}

export function inputsOf(transaction: Transaction): string[] {
  return Array.from({ length: transaction.inputsLength }, (_, i) => {
    const { txid, index } = transaction.getInput(i);
    return `${Buffer.from(txid ?? []).toString('hex')}:${index}`;
  });
}

export function outputsOf(transaction: Transaction): Output[] {
  return Array.from({ length: transaction.outputsLength }, (_, i) => {
    const { script, amount } = transaction.getOutput(i);
    return { script: Buffer.from(script ?? []).toString('hex'), valueSat: amount ?? 0n };
  });
}

/** A signed transaction from outside the wallet that pays these outputs. */
export function foreignTransaction(outputs: readonly Output[]): Uint8Array {
  const key = newAddressKey();
  const total = outputs.reduce((sum, { valueSat }) => sum + valueSat, 1000n);
  const outpoint = `${randomBytes(32).toString('hex')}:0`;
  const coin = { outpoint, valueSat: total, script: key.script, address: '', confirmations: 6 };
  const transaction = draft([coin], outputs, 0);
  signAll(transaction, new Map([[key.script, key]]));
  return transaction.extract();
}
