import { describe, expect, test } from 'bun:test';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import { SigHash, Transaction } from '@scure/btc-signer';
import {
  childSecretKey,
  multisigOutput,
  singleKeyScript,
} from '../../../../src/nodes/sandbox/chain/keys.ts';
import {
  coinbaseTransaction,
  signTransaction,
  type TransactionInput,
} from '../../../../src/nodes/sandbox/chain/transaction.ts';
import { transactionVsize } from '../../../../src/nodes/sandbox/chain/weight.ts';

const accountKey = new Uint8Array(32).fill(7);
const auxRand = new Uint8Array(32);

function coin(kind: 'p2wpkh' | 'p2tr', index: number, valueSat = 50_000n): TransactionInput {
  const secretKey = childSecretKey(accountKey, 'receive', index);
  const script = singleKeyScript(kind, secretKey);
  return { txid: 'ab'.repeat(32), vout: index, valueSat, script, keys: { kind, secretKey } };
}

function payTo(index: number, valueSat: bigint) {
  return {
    script: singleKeyScript('p2wpkh', childSecretKey(accountKey, 'change', index)),
    valueSat,
  };
}

describe('signTransaction', () => {
  test('a P2WPKH input carries an ECDSA signature over the BIP 143 digest and its public key', () => {
    const input = coin('p2wpkh', 0);
    const signed = signTransaction({
      inputs: [input],
      outputs: [payTo(0, 40_000n)],
      lockTime: 101,
      auxRand,
    });
    const [signature = '', publicKey = ''] = signed.json.input[0]?.witness ?? [];
    const parsed = Transaction.fromRaw(signed.raw);
    const digest = parsed.preimageWitnessV0(
      0,
      hex.decode(`76a914${hex.encode(input.script.subarray(2))}88ac`),
      SigHash.ALL,
      50_000n,
    );
    const der = hex.decode(signature);
    expect(der.at(-1)).toBe(SigHash.ALL);
    expect(
      secp256k1.verify(der.subarray(0, -1), digest, hex.decode(publicKey), {
        prehash: false,
        format: 'der',
      }),
    ).toBe(true);
  });

  test('a P2TR input carries a BIP 340 signature by the output key', () => {
    const input = coin('p2tr', 0);
    const signed = signTransaction({
      inputs: [input],
      outputs: [payTo(0, 40_000n)],
      lockTime: 101,
      auxRand,
    });
    const [signature = ''] = signed.json.input[0]?.witness ?? [];
    const parsed = Transaction.fromRaw(signed.raw);
    const digest = parsed.preimageWitnessV1(0, [input.script], SigHash.DEFAULT, [50_000n]);
    expect(schnorr.verify(hex.decode(signature), digest, input.script.subarray(2))).toBe(true);
  });

  test('a funding output is spent by the signatures of both of its keys', () => {
    const keys = [
      childSecretKey(accountKey, 'receive', 1),
      childSecretKey(accountKey, 'receive', 2),
    ];
    const [a, b] = keys as [Uint8Array, Uint8Array];
    const { script, witnessScript } = multisigOutput([
      secp256k1.getPublicKey(a, true),
      secp256k1.getPublicKey(b, true),
    ]);
    const input: TransactionInput = {
      ...coin('p2wpkh', 0),
      script,
      keys: { kind: 'multisig', secretKeys: [a, b] },
    };
    const signed = signTransaction({
      inputs: [input],
      outputs: [payTo(0, 40_000n)],
      lockTime: 0,
      auxRand,
    });
    const witness = signed.json.input[0]?.witness ?? [];
    expect(witness).toHaveLength(4);
    expect(witness[0]).toBe('');
    expect(witness[3]).toBe(hex.encode(witnessScript));
    expect(signed.vsize).toBeLessThanOrEqual(transactionVsize(['multisig'], [payTo(0, 1n).script]));
  });

  test('the tx object names the spent outputs, the values, the scripts, the lock time and a replaceable sequence', () => {
    const signed = signTransaction({
      inputs: [coin('p2wpkh', 0), coin('p2tr', 1)],
      outputs: [payTo(0, 40_000n), payTo(1, 59_000n)],
      lockTime: 101,
      auxRand,
    });
    expect(signed.json).toMatchObject({
      version: 2,
      lock_time: 101,
      input: [
        { previous_output: `${'ab'.repeat(32)}:0`, script_sig: '', sequence: 0xfffffffd },
        { previous_output: `${'ab'.repeat(32)}:1`, script_sig: '', sequence: 0xfffffffd },
      ],
      output: [
        { value: 40_000, script_pubkey: hex.encode(payTo(0, 1n).script) },
        { value: 59_000, script_pubkey: hex.encode(payTo(1, 1n).script) },
      ],
    });
    expect(Transaction.fromRaw(signed.raw).id).toBe(signed.txid);
  });

  test('the estimated size is never below the real one, and at most one virtual byte per input above it', () => {
    for (let index = 0; index < 8; index++) {
      const inputs = [coin('p2wpkh', index), coin('p2wpkh', index + 1), coin('p2tr', index + 2)];
      const outputs = [payTo(index, 40_000n), payTo(index + 1, 41_000n)];
      const signed = signTransaction({ inputs, outputs, lockTime: 101, auxRand });
      const estimated = transactionVsize(
        ['p2wpkh', 'p2wpkh', 'p2tr'],
        outputs.map(({ script }) => script),
      );
      expect(signed.vsize).toBeLessThanOrEqual(estimated);
      expect(signed.vsize).toBeGreaterThanOrEqual(estimated - inputs.length);
    }
  });

  test('a coinbase transaction spends nothing and names the height of its block', () => {
    const coinbase = coinbaseTransaction(258, [payTo(0, 1_000n)]);
    expect(coinbase.json.input).toEqual([
      {
        previous_output: `${'00'.repeat(32)}:${0xffffffff}`,
        script_sig: '020201',
        sequence: 0xffffffff,
        witness: [],
      },
    ]);
  });
});

describe('childSecretKey', () => {
  test('is fixed for ever by account key, branch and index', () => {
    expect(hex.encode(childSecretKey(accountKey, 'receive', 0))).toMatchInlineSnapshot(
      `"b37d67a92f4379630ee2b3ab322c18c9e9f28e3872bb9a31db9ce07d8d06d633"`,
    );
    expect(hex.encode(childSecretKey(accountKey, 'change', 3))).toMatchInlineSnapshot(
      `"047d71ed0b41dfc03c9823588cbbf45576c051393b4a75e4aab80895a21dc204"`,
    );
  });
});
