import { rejected } from '../model/errors.ts';
import { canonicalPaymentString } from '../wallet/canonical-string.ts';
import type { Route } from './route.ts';

/**
 * Returns the input with its payment strings in canonical form, so that a repeated request is recognised although its
 * strings are spelled differently (docs/decisions.md 46).
 */
export function comparable(
  paymentStrings: NonNullable<Route['paymentStrings']>,
  input: unknown,
): unknown {
  if (typeof input !== 'object' || input === null) return null;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' && paymentStrings.includes(name)
        ? canonicalPaymentString(value)
        : value,
    ]),
  );
}

/**
 * Returns a value that may be given in two places, by default the body and the query. Throws error 7 when the two
 * values differ (docs/decisions.md 19). Undefined means that neither place gives it.
 */
export function agree<T>(
  name: string,
  first: T | undefined,
  second: T | undefined,
  places = 'the body and the query',
): T | undefined {
  if (first !== undefined && second !== undefined && first !== second) {
    throw rejected(name, `${places} give different values: give one, or the same twice`);
  }
  return first ?? second;
}

/** Works as {@link agree} for payment strings: two spellings of the same string are equal. */
export function agreedPaymentString(
  name: string,
  inBody: string | undefined,
  inQuery: string | undefined,
): string | undefined {
  if (inBody === undefined || inQuery === undefined) return inBody ?? inQuery;
  agree(name, canonicalPaymentString(inBody), canonicalPaymentString(inQuery));
  return inBody;
}
