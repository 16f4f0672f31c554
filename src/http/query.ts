import { z } from 'zod';
import { once } from '../lib/once.ts';

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** Returns the schema of a whole number in a query parameter. */
export function integerQuery({ least, most }: Bounds) {
  const words = inWords({ least, most });
  return z
    .string()
    .regex(/^\d{1,16}$/, words)
    .transform(Number)
    .pipe(z.int(words).min(least, words).max(most, words))
    .meta({ accepts: accepted({ least, most }) });
}

/** Works as {@link integerQuery}, with a default value. */
export function integerQueryOr(fallback: number, bounds: Bounds) {
  return integerQuery(bounds)
    .default(fallback)
    .meta({ accepts: { ...accepted(bounds), default: fallback } });
}

function inWords({ least, most }: Bounds): string {
  return most === Number.MAX_SAFE_INTEGER
    ? `must be a whole number, ${least} or more`
    : `must be a whole number from ${least} to ${most}`;
}

function accepted({ least, most }: Bounds) {
  return { type: 'integer', minimum: least, maximum: most };
}

/** Seconds to wait at most; without it a wait has no end. */
export const timeoutSecsQuery = once(() =>
  integerQuery({ least: 0, most: Number.MAX_SAFE_INTEGER }).optional().meta({
    description: 'Seconds to wait at most; then error 4. Without it the wait has no end.',
  }),
);

/**
 * A payment string in a request. The longest strings of known wallets have about 2,000 characters; longer ones cost
 * time to read.
 */
export const paymentStringInput = once(() => z.string().min(1).max(20_000));

/** An input of the query that may be given in the body instead; see `agree`. */
export const sameAsInBody = <T extends z.ZodType>(input: T) =>
  input
    .optional()
    .meta({ description: 'The same as in the body. If both are given, they must be equal.' });
