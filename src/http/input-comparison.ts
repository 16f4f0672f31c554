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

/** A value given in body or query or both; different values are error 7 (decisions section 3). */
export function agree<T>(
  name: string,
  inBody: T | undefined,
  inQuery: T | undefined,
): T | undefined {
  if (inBody !== undefined && inQuery !== undefined && inBody !== inQuery) {
    throw rejected(
      name,
      'the body and the query give different values: give one, or the same twice',
    );
  }
  return inBody ?? inQuery;
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
