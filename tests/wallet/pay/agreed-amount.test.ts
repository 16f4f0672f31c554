import { expect, test } from 'bun:test';
import { ApiError } from '../../../src/model/errors.ts';
import { agreedAmountMsat } from '../../../src/wallet/pay/agreed-amount.ts';

const agreed = (askedMsat: bigint | null, givenMsat: bigint | null) =>
  agreedAmountMsat({ askedMsat, givenMsat, field: 'amount' });

/** The error of a disagreement. */
function disagreement(askedMsat: bigint | null, givenMsat: bigint | null): ApiError {
  try {
    throw new Error(`agreed on ${agreed(askedMsat, givenMsat)}`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error;
  }
}

test('one side is enough, and both may name the same', () => {
  expect(agreed(5000n, null)).toBe(5000n);
  expect(agreed(null, 7000n)).toBe(7000n);
  expect(agreed(null, 0n)).toBe(0n);
  expect(agreed(5000n, 5000n)).toBe(5000n);
});

test('an amount that nobody names is asked for by the name of its field', () => {
  const error = disagreement(null, null);
  expect(error.kind).toBe('rejected');
  expect(error.message).toMatch(/amount.*is required/);
});

test('another amount than what is asked for is rejected, one millisatoshi more or less too', () => {
  for (const givenMsat of [4999n, 5001n, 0n]) {
    const error = disagreement(5000n, givenMsat);
    expect(error.kind).toBe('rejected');
    expect(error.message).toContain('asks for 5 sats');
  }
});
