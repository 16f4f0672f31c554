import type { z } from 'zod';

/** What can be said of a body after its schema has read it, and the JSON Schema that says the same of the request. */
interface Condition {
  readonly json: Json;
  readonly holds: (body: Body) => boolean;
}

/** A rule between the members of a body: the condition, and the issue where it does not hold. */
type BodyRule = readonly [condition: Condition, path: string | null, message: string];

type Json = Readonly<Record<string, unknown>>;
type Body = Readonly<Record<string, unknown>>;

/** Returns the schema with rules between its members, which it checks and the OpenAPI document shows. */
export function withRules<S extends z.ZodObject>(schema: S, ...rules: readonly BodyRule[]): S {
  return schema
    .check(({ value, issues }) => {
      for (const [{ holds }, path, message] of rules) {
        if (holds(value)) continue;
        issues.push({ code: 'custom', path: path === null ? [] : [path], message, input: value });
      }
    })
    .meta({ allOf: rules.map(([{ json }]) => json) });
}

/** The member is present. Null counts as absent (docs/decisions.md 19). */
export function given(name: string): Condition {
  return member(name, { not: { type: 'null' } }, (value) => value !== undefined);
}

/** The member is present, be it null, which this member may be. */
export function there(name: string): Condition {
  return { json: { required: [name] }, holds: (body) => body[name] !== undefined };
}

/** The member is absent or at most that number. */
export function atMost(name: string, most: number): Condition {
  return {
    json: { properties: { [name]: { type: ['integer', 'null'], maximum: most } } },
    holds: (body) => body[name] === undefined || Number(body[name]) <= most,
  };
}

/** The flag is true. */
export function isTrue(name: string): Condition {
  return member(name, { const: true }, (value) => value === true);
}

/** The list is present and not empty. */
export function filled(name: string): Condition {
  const json = { not: { type: 'null' }, minItems: 1 };
  return member(name, json, (value) => Array.isArray(value) && value.length > 0);
}

function member(name: string, json: Json, holds: (value: unknown) => boolean): Condition {
  return {
    json: { required: [name], properties: { [name]: json } },
    holds: (body) => holds(body[name]),
  };
}

/** At least one of the conditions holds. */
export function any(...all: readonly Condition[]): Condition {
  return { json: { anyOf: jsonOf(all) }, holds: (body) => all.some(({ holds }) => holds(body)) };
}

/** Exactly one of the conditions holds. */
export function one(...all: readonly Condition[]): Condition {
  const holding = (body: Body) => all.filter(({ holds }) => holds(body));
  return { json: { oneOf: jsonOf(all) }, holds: (body) => holding(body).length === 1 };
}

/** Not all of the conditions hold. */
export function notAll(...all: readonly Condition[]): Condition {
  return not({
    json: { allOf: jsonOf(all) },
    holds: (body) => all.every(({ holds }) => holds(body)),
  });
}

/** Where the first condition holds, the second does. */
export function implies(condition: Condition, then: Condition): Condition {
  return any(not(condition), then);
}

/** The member is absent where the flag is true. */
export function excludes(name: string, flag: string): Condition {
  const [first, second] = [given(name), isTrue(flag)];
  const properties = { ...(first.json.properties as Json), ...(second.json.properties as Json) };
  return {
    json: { not: { required: [name, flag], properties } },
    holds: (body) => !(first.holds(body) && second.holds(body)),
  };
}

/** What is said of a price beside an amount. */
export const NOT_BESIDE_AMOUNT = 'must be left out where amount is given';
/** A body has a price or an amount, not both. */
export const PRICE_OR_AMOUNT: BodyRule = [
  notAll(given('amount'), given('price')),
  'price',
  NOT_BESIDE_AMOUNT,
];
/** A body has an amount, or a price in place of it. */
export const AMOUNT_OR_PRICE: BodyRule = [
  any(given('amount'), given('price')),
  'amount',
  'is required, or price',
];

function not({ json, holds }: Condition): Condition {
  return { json: { not: json }, holds: (body) => !holds(body) };
}

function jsonOf(all: readonly Condition[]): readonly Json[] {
  return all.map(({ json }) => json);
}
