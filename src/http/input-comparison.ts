import type { z } from 'zod';
import { rejected } from '../model/errors.ts';
import { canonicalPaymentString } from '../wallet/strings/canonical-string.ts';
import { type InputFields, inputFields } from './input/input-fields.ts';
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
 * Returns the body as earlier versions compared it: they kept a field that was sent as null, which counts as absent now
 * (docs/decisions.md 19). `text` is the body as it was sent, and `input` what was parsed of it.
 */
export function comparedBefore(schema: z.ZodType | null, input: unknown, text: string): unknown {
  if (schema === null || !text.includes('null')) return input;
  return withNulls(inputFields(schema), input, JSON.parse(text));
}

function withNulls(fields: InputFields | null, input: unknown, sent: unknown): unknown {
  if (fields === null || !isObject(input) || !isObject(sent)) return input;
  const present = Object.entries(input).map(([name, value]) => [
    name,
    withNulls(fields.known.get(name)?.fields ?? null, value, sent[name]),
  ]);
  const nulls = Object.entries(sent).filter(
    ([name, value]) => value === null && fields.known.has(name),
  );
  return Object.fromEntries([...present, ...nulls]);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
  first: string | undefined,
  second: string | undefined,
  places?: string,
): string | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  agree(name, canonicalPaymentString(first), canonicalPaymentString(second), places);
  return first;
}
