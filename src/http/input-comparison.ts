import { rejected } from '../model/errors.ts';
import { canonicalPaymentString } from '../wallet/canonical-string.ts';
import type { Route } from './route.ts';

/** Input with its payment strings in canonical form, by which a repeat of a request is known (decisions section 5). */
export function comparable(
  { paymentStrings = [] }: Pick<Route, 'paymentStrings'>,
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
 * A value that may be given in two places, body and query where `places` names no others; different values are error 7
 * (decisions section 3).
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

/** {@link agree} for payment strings: spellings of one string do not differ. */
export function agreedPaymentString(
  name: string,
  inBody: string | undefined,
  inQuery: string | undefined,
): string | undefined {
  const [body, query] = [inBody, inQuery].map((text) => text && canonicalPaymentString(text));
  agree(name, body, query);
  return inBody ?? inQuery;
}
