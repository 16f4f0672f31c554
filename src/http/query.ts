import { z } from 'zod';

/** A whole number in a query parameter. */
export function integerQuery(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most));
}

/** Seconds to wait at most; without it a wait has no end. About 24 days is the most a timer can hold. */
export const timeoutSecsQuery = integerQuery(0, 2_000_000)
  .optional()
  .meta({ description: 'Seconds to wait at most; without it the wait has no end.' });

/** A payment string in a request. The longest that wallets make have some 2,000 characters; reading takes time. */
export const paymentStringInput = z.string().min(1).max(20_000);
