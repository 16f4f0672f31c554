import { expect, test } from 'bun:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import { RawTx, SigHash, Transaction } from '@scure/btc-signer';
import { closedOutputs } from '../../../src/nodes/ldk/recovery/closed-outputs.ts';
import { sweepTransaction } from '../../../src/nodes/ldk/recovery/sweep.ts';
import { virtualBytesOf } from '../../../src/nodes/remote/orders/psbt.ts';

const OUTPUTS = closedOutputs(new Uint8Array(64).fill(7));
const TO = hex.decode(`0014${'ab'.repeat(20)}`);
const RATE = 3;
const coins = OUTPUTS.slice(0, 2).map((output, at) => ({
  ...{ outpoint: `${'cd'.repeat(32)}:${at}`, valueSat: 50_000n, output },
}));

test('a channel may be closed to one of two thousand scripts, each with a key of its own', () => {
  expect(new Set(OUTPUTS.map(({ script }) => hex.encode(script))).size).toBe(2000);
  expect(new Set(OUTPUTS.map(({ publicKey }) => hex.encode(publicKey))).size).toBe(1000);
});

test('one transaction takes all coins, signed, at the rate that was asked for', () => {
  const { txHex, amountSat } = sweepTransaction(coins, TO, RATE) ?? { txHex: '', amountSat: 0n };
  const raw = RawTx.decode(hex.decode(txHex));
  expect(raw.outputs).toEqual([{ amount: amountSat, script: TO }]);
  const rate = Number(100_000n - amountSat) / Number(virtualBytesOf(hex.decode(txHex)));
  expect(rate).toBeGreaterThanOrEqual(RATE);
  expect(rate).toBeLessThan(RATE + 0.2);
  // A coin of a channel with anchors cannot be spent in the block of its closing.
  expect(raw.inputs.map(({ sequence }) => sequence)).toEqual([0xfffffffd, 1]);
  const transaction = Transaction.fromRaw(hex.decode(txHex), { allowUnknownInputs: true });
  coins.forEach(({ output, valueSat }, at) => {
    const [signature, unlocks] = raw.witnesses?.[at] ?? [];
    const { scriptCode, publicKey, isAnchored } = output;
    expect(unlocks).toEqual(isAnchored ? scriptCode : publicKey);
    const digest = transaction.preimageWitnessV0(at, scriptCode, SigHash.ALL, valueSat);
    const der = (signature as Uint8Array).slice(0, -1);
    expect(
      secp256k1.verify(der, digest, publicKey, { prehash: false, lowS: true, format: 'der' }),
    ).toBe(true);
  });
});

test('coins that are worth less than their fee are left', () => {
  expect(sweepTransaction(coins, TO, 700)).toBeNull();
});
