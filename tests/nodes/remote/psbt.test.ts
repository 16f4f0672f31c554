import { expect, test } from 'bun:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base64, hex } from '@scure/base';
import { p2wpkh, Transaction } from '@scure/btc-signer';
import { encodeAddress } from '../../../src/codecs/address.ts';
import {
  isSameTransaction,
  pays,
  readPsbt,
  spentOutpoints,
  txidOf,
} from '../../../src/nodes/remote/orders/psbt.ts';

const SECRET = new Uint8Array(32).fill(3);
const ours = p2wpkh(secp256k1.getPublicKey(SECRET, true)).script;
const theirs = p2wpkh(secp256k1.getPublicKey(new Uint8Array(32).fill(4), true)).script;
const COIN = 'ab'.repeat(32);

function funded(holdsSat: bigint, ...outputsSat: bigint[]): Transaction {
  const transaction = new Transaction();
  const witnessUtxo = { script: ours, amount: holdsSat };
  transaction.addInput({ txid: COIN, index: 1, witnessUtxo });
  outputsSat.forEach((amount, at) => {
    transaction.addOutput({ script: at === 0 ? theirs : ours, amount });
  });
  return transaction;
}
const psbtOf = (transaction: Transaction) => base64.encode(transaction.toPSBT());
function signed(transaction: Transaction): string {
  transaction.sign(SECRET);
  transaction.finalize();
  return hex.encode(transaction.extract());
}

test('the fee is what the inputs hold above the outputs', () => {
  const read = readPsbt(psbtOf(funded(100_000n, 60_000n, 39_000n)));
  expect(read.feeSat).toBe(1000n);
  expect(read.inputs).toEqual([`${COIN}:1`]);
});

test('what does not say what its inputs hold, or holds less than it pays, is no funded transaction', () => {
  const silent = new Transaction();
  silent.addInput({ txid: COIN, index: 1 });
  silent.addOutput({ script: theirs, amount: 1000n });
  for (const psbt of [psbtOf(silent), psbtOf(funded(1000n, 2000n)), 'AAAA', '']) {
    expect(() => readPsbt(psbt)).toThrow();
  }
});

test('the payee is paid exactly, or it is another payment', () => {
  const read = readPsbt(psbtOf(funded(100_000n, 60_000n, 39_000n)));
  const address = encodeAddress(theirs, 'regtest') ?? '';
  expect(pays(read, address, 60_000n, 'regtest')).toBe(true);
  expect(pays(read, address.toUpperCase(), 60_000n, 'regtest')).toBe(true);
  expect(pays(read, address, 59_999n, 'regtest')).toBe(false);
  expect(pays(read, encodeAddress(ours, 'regtest') ?? '', 60_000n, 'regtest')).toBe(false);
});

test('a signed transaction is the funded one only with the same coins and outputs', () => {
  const read = readPsbt(psbtOf(funded(100_000n, 60_000n, 39_000n)));
  const same = signed(funded(100_000n, 60_000n, 39_000n));
  expect(isSameTransaction(read, same)).toBe(true);
  expect(isSameTransaction(read, signed(funded(100_000n, 60_000n, 29_000n)))).toBe(false);
  expect(spentOutpoints(same)).toEqual([`${COIN}:1`]);
  expect(txidOf(same)).toMatch(/^[0-9a-f]{64}$/);
});
