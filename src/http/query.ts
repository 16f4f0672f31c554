import { z } from 'zod';

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** A whole number in a query parameter. */
export function integerQuery({ least, most }: Bounds) {
  return z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .meta({ accepts: accepted({ least, most }) });
}

/** {@link integerQuery}, with what counts where it is left out. */
export function integerQueryOr(fallback: number, bounds: Bounds) {
  return integerQuery(bounds)
    .default(fallback)
    .meta({ accepts: { ...accepted(bounds), default: fallback } });
}

function accepted({ least, most }: Bounds) {
  return { type: 'integer', minimum: least, maximum: most };
}

/** Seconds to wait at most; without it a wait has no end. About 24 days is the most a timer can hold. */
export const timeoutSecsQuery = integerQuery({ least: 0, most: 2_000_000 })
  .optional()
  .meta({ description: 'Seconds to wait at most; then error 4. Without it the wait has no end.' });

/** A payment string in a request. The longest that wallets make have some 2,000 characters; reading takes time. */
export const paymentStringInput = z.string().min(1).max(20_000);
