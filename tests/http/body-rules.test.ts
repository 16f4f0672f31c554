import { expect, test } from 'bun:test';
import { z } from 'zod';
import { type Schema, schemaProblem } from '../../fuzz/json-schema.ts';
import {
  any,
  excludes,
  filled,
  given,
  implies,
  isTrue,
  notAll,
  one,
  there,
  withRules,
} from '../../src/http/body-rules.ts';

const members = z.object({
  a: z.string().optional(),
  b: z.string().optional(),
  list: z.array(z.string()).optional(),
  flag: z.boolean().optional(),
});

/** What each condition holds for, among all bodies of these members. */
const CONDITIONS = {
  given: [given('a'), (body: Body) => 'a' in body],
  there: [there('a'), (body: Body) => 'a' in body],
  isTrue: [isTrue('flag'), (body: Body) => body.flag === true],
  filled: [filled('list'), (body: Body) => (body.list ?? []).length > 0],
  any: [any(given('a'), given('b')), (body: Body) => 'a' in body || 'b' in body],
  one: [one(given('a'), given('b')), (body: Body) => 'a' in body !== 'b' in body],
  notAll: [notAll(given('a'), given('b')), (body: Body) => !('a' in body && 'b' in body)],
  implies: [implies(given('a'), given('b')), (body: Body) => !('a' in body) || 'b' in body],
  excludes: [excludes('a', 'flag'), (body: Body) => !('a' in body && body.flag === true)],
} as const;

interface Body {
  readonly a?: string;
  readonly b?: string;
  readonly list?: readonly string[];
  readonly flag?: boolean;
}

const BODIES: readonly Body[] = [{}, { a: 'x' }].flatMap((a) =>
  [{}, { b: 'x' }].flatMap((b) =>
    [{}, { list: [] }, { list: ['x'] }].flatMap((list) =>
      [{}, { flag: false }, { flag: true }].map((flag) => ({ ...a, ...b, ...list, ...flag })),
    ),
  ),
);

for (const [name, [condition, holds]] of Object.entries(CONDITIONS)) {
  test(`the rule ${name} is checked as the document says it`, () => {
    const schema = withRules(members, [condition, 'a', 'is wrong']);
    const { allOf } = schema.meta() as { readonly allOf: readonly Schema[] };
    const told = BODIES.map((body) => schemaProblem(body, { allOf }, {}) === null);
    expect(told).toEqual(BODIES.map(holds));
    expect(BODIES.map((body) => schema.safeParse(body).success)).toEqual(told);
  });
}

test('each rule that does not hold is an issue of its own, or of the whole body', () => {
  const schema = withRules(
    members,
    [given('a'), 'a', 'is required'],
    [given('b'), null, 'must have b'],
  );
  const { error } = schema.safeParse({});
  expect(error?.issues.map(({ path, message }) => [path, message])).toEqual([
    [['a'], 'is required'],
    [[], 'must have b'],
  ]);
});
