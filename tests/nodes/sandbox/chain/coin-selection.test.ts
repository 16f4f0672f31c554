import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { dustLimitSat } from '../../../../src/codecs/dust.ts';
import { type Coin, selectCoins } from '../../../../src/nodes/sandbox/chain/coin-selection.ts';
import { transactionVsize } from '../../../../src/nodes/sandbox/chain/weight.ts';

const p2wpkh = Uint8Array.of(0, 20, ...new Uint8Array(20));
const p2tr = Uint8Array.of(0x51, 32, ...new Uint8Array(32));

function coins(...values: number[]): Coin[] {
  return values.map((value) => ({ valueSat: BigInt(value), kind: 'p2wpkh' }));
}

function target(valueSat: number, feeRate = 5) {
  return {
    outputs: [{ script: p2wpkh, valueSat: BigInt(valueSat) }],
    changeScript: p2wpkh,
    feeRate,
  };
}

describe('selectCoins', () => {
  test('takes the smallest single coin that suffices', () => {
    const selection = selectCoins(coins(500_000, 20_000, 60_000, 9_000), target(15_000));
    expect(selection).toMatchObject({ coins: [{ valueSat: 20_000n }] });
  });

  test('takes the largest coins first when none suffices alone', () => {
    const selection = selectCoins(coins(10_000, 30_000, 20_000), target(45_000));
    expect(selection).toMatchObject({ coins: [{ valueSat: 30_000n }, { valueSat: 20_000n }] });
  });

  test('gives what would be a dust change to the miners', () => {
    const feeSat = BigInt(transactionVsize(['p2wpkh'], [p2wpkh]) * 5);
    const selection = selectCoins(coins(10_000), target(10_000 - Number(feeSat) - 293));
    expect(selection).toMatchObject({ changeSat: 0n, feeSat: feeSat + 293n });
  });

  test('names the fee and what is missing when the coins do not suffice', () => {
    const feeSat = BigInt(transactionVsize(['p2wpkh'], [p2wpkh]) * 5);
    expect(selectCoins(coins(10_000), target(10_000))).toEqual({ feeSat, missingSat: feeSat });
  });

  test('leaves coins alone that cost more than they bring', () => {
    const selection = selectCoins(coins(100, 9_500, 900), target(9_400));
    expect(selection).toMatchObject({ coins: [{ valueSat: 9_500n }, { valueSat: 900n }] });
  });

  test('inputs are outputs, change and fee, the fee meets the rate, and change is never dust', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            valueSat: fc.bigInt(1n, 200_000n),
            kind: fc.constantFrom('p2wpkh' as const, 'p2tr' as const),
          }),
          { maxLength: 12 },
        ),
        fc.bigInt(294n, 400_000n),
        fc.constantFrom(1, 5, 12),
        (candidates, valueSat, feeRate) => {
          const outputs = [{ script: p2tr, valueSat }];
          const selection = selectCoins(candidates, { outputs, changeScript: p2wpkh, feeRate });
          if (!('coins' in selection)) {
            expect(selection.missingSat > 0n).toBe(true);
            return;
          }
          const inSat = selection.coins.reduce((sum, coin) => sum + coin.valueSat, 0n);
          expect(inSat).toBe(valueSat + selection.changeSat + selection.feeSat);
          const scripts = selection.changeSat > 0n ? [p2tr, p2wpkh] : [p2tr];
          const kinds = selection.coins.map(({ kind }) => kind);
          const leastFee = BigInt(transactionVsize(kinds, scripts) * feeRate);
          expect(selection.feeSat >= leastFee).toBe(true);
          if (selection.changeSat > 0n) {
            expect(selection.changeSat >= dustLimitSat(p2wpkh)).toBe(true);
            expect(selection.feeSat).toBe(leastFee);
          }
        },
      ),
    );
  });
});

describe('dustLimitSat', () => {
  test('is the limit of the default relay policy for each kind of script', () => {
    const script = (prefix: number[], bytes: number, suffix: number[] = []) =>
      Uint8Array.of(...prefix, ...new Uint8Array(bytes), ...suffix);
    expect(dustLimitSat(p2wpkh)).toBe(294n);
    expect(dustLimitSat(p2tr)).toBe(330n);
    expect(dustLimitSat(script([0, 32], 32))).toBe(330n);
    expect(dustLimitSat(script([0x76, 0xa9, 20], 20, [0x88, 0xac]))).toBe(546n);
    expect(dustLimitSat(script([0xa9, 20], 20, [0x87]))).toBe(540n);
  });
});
