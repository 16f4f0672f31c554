import { expect, test } from 'bun:test';
import { type FeePolicy, feeCapMsat } from '../../src/model/fee-cap.ts';

const policy: FeePolicy = { ppm: 5000, leastMsat: 50_000n };

test('the cap is the share of the amount, rounded down', () => {
  expect(feeCapMsat(100_000_000n, null, policy)).toBe(500_000n);
  expect(feeCapMsat(100_000_199n, null, policy)).toBe(500_000n);
  expect(feeCapMsat(100_000_200n, null, policy)).toBe(500_001n);
});

test('the cap is never below the least', () => {
  expect(feeCapMsat(1n, null, policy)).toBe(50_000n);
  expect(feeCapMsat(10_000_000n, null, policy)).toBe(50_000n);
  expect(feeCapMsat(10_000_200n, null, policy)).toBe(50_001n);
  expect(feeCapMsat(0n, null, { ppm: 0, leastMsat: 0n })).toBe(0n);
});

test("the request's own cap is taken as it is, above or below, and nothing too", () => {
  for (const requestedMsat of [0n, 1n, 10n ** 15n]) {
    expect(feeCapMsat(100_000_000n, requestedMsat, policy)).toBe(requestedMsat);
  }
});
