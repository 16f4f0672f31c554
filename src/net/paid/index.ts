import { isApiError } from '../../model/errors.ts';
import { serviceFailed } from '../service-error.ts';
import type { Challenge, Dialect, Reading } from './challenge.ts';
import { l402 } from './l402.ts';
import { paymentScheme } from './payment-scheme.ts';
import { x402 } from './x402.ts';

export type { Challenge, ResourceRequest } from './challenge.ts';

/** The ways of asking for payment, the one that binds most to its request first. */
const DIALECTS: Readonly<Record<Challenge['dialect'], Dialect>> = {
  x402,
  payment: paymentScheme,
  l402,
};

/**
 * Returns the challenge of an answer 402 that is paid: the first that is right. Throws error 113 where there is none,
 * saying what is wrong.
 */
export function challengeIn(headers: Headers, reading: Reading): Challenge {
  let wrong: unknown = null;
  for (const dialect of Object.values(DIALECTS)) {
    try {
      const [first] = dialect.read(headers, reading);
      if (first) return first;
    } catch (error) {
      if (!isApiError(error)) throw error;
      wrong ??= error;
    }
  }
  throw (
    wrong ??
    serviceFailed(
      'unusable_answer',
      'The service asks for payment in no way that this wallet knows: L402, Payment with Lightning, or x402 with Lightning on its network.',
    )
  );
}

/** Returns the header that proves the payment of a challenge. */
export function proofOf(
  { dialect, token }: Pick<Challenge, 'dialect' | 'token'>,
  preimage: string,
): readonly [name: string, value: string] {
  return DIALECTS[dialect].proof(token, preimage);
}
