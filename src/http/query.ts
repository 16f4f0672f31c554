import { z } from 'zod';
import { once } from '../lib/once.ts';

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** The bound of numbers that have none of their own. A larger one would be rounded. */
const MOST = Number.MAX_SAFE_INTEGER;
const TOO_LARGE = `must be at most ${MOST}`;

/** Returns the schema of a whole number in a query parameter; without bounds, such as a time, it is 0 or more. */
export function integerQuery({ least, most }: Bounds = { least: 0, most: MOST }) {
  const words = inWords({ least, most });
  return z
    .string()
    .regex(/^\d+$/, words)
    .transform(Number)
    .pipe(
      z
        .number()
        .min(least, words)
        .max(most, most === MOST ? TOO_LARGE : words),
    )
    .meta({ accepts: accepted({ least, most }) });
}

/** Works as {@link integerQuery}, with a default value. */
export function integerQueryOr(fallback: number, bounds: Bounds) {
  return integerQuery(bounds)
    .default(fallback)
    .meta({ accepts: { ...accepted(bounds), default: fallback } });
}

function inWords({ least, most }: Bounds): string {
  return most === MOST
    ? `must be a whole number, ${least} or more`
    : `must be a whole number from ${least} to ${most}`;
}

function accepted({ least, most }: Bounds) {
  return { type: 'integer', minimum: least, maximum: most };
}

/** The most seconds that a timer can hold: about 24 days. */
const LONGEST_TIMER_SECS = 2_000_000;

/**
 * Seconds to wait at most; undefined for a wait without end, which is also one that is longer than a timer can count
 * (docs/decisions.md 165).
 */
export const timeoutSecsQuery = once(() =>
  z
    .string()
    .regex(/^\d+$/, inWords({ least: 0, most: MOST }))
    .transform((text) => (Number(text) > LONGEST_TIMER_SECS ? undefined : Number(text)))
    .optional()
    .meta({
      description: `Seconds to wait at most; then error 4. Without it, and beyond ${LONGEST_TIMER_SECS}, the wait has no end.`,
      accepts: { type: 'integer', minimum: 0 },
    }),
);

/** A payment string. Those of known wallets have some 2,000 characters at most; longer ones cost time to read. */
export const paymentStringInput = once(() => z.string().min(1).max(20_000));

/** An input of the query that may be given in the body instead; see `agree`. */
export const sameAsInBody = <T extends z.ZodType>(input: T) =>
  input.optional().describe('The same as in the body. If both are given, they must be equal.');
