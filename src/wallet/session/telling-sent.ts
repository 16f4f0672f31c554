import { internalUnlessApi, isApiError } from '../../model/errors.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';

/**
 * Runs work before or after the node is asked. Its errors carry `sent` in their data (docs/decisions.md 12), unless
 * they say it already, and the index of the payment where one is given; other errors than ApiErrors become error 6.
 */
export async function tellingSent<T>(
  sent: 'no' | 'unknown',
  work: () => Promise<T>,
  index?: PaymentIndex,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw internalUnlessApi(error).with(index === undefined ? { sent } : { sent, index });
  }
}

/**
 * Throws the error of a write that stores that a spend is sent. Where it is not known whether it was stored, the
 * sidecar that takes over may send it, so the error says "unknown".
 */
export function tellingDoubt(error: unknown, index: PaymentIndex): never {
  throw isApiError(error) && error.outcomeUnknown ? error.with({ sent: 'unknown', index }) : error;
}
