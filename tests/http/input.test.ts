import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { INEXACT, parseExact } from '../../src/http/input/exact-numbers.ts';
import { ignoredFieldsHeader } from '../../src/http/input/ignored-fields.ts';
import { inputFields, presentInput } from '../../src/http/input/input-fields.ts';
import { jsonProblem } from '../../src/http/input/json-problem.ts';
import { issuesOf, issueWords } from '../../src/http/input/words.ts';
import { amountInput } from '../../src/model/amount.ts';

const schema = z.object({
  name: z.string().min(1).max(3),
  note: z.string().optional(),
  cleared: z.string().nullable(),
  kind: z.enum(['a', 'b']).default('a'),
  limits: z
    .strictObject({ amount: amountInput(), most: amountInput().optional() })
    .transform((limits) => limits)
    .optional(),
  shown: z.object({ title: z.boolean().optional() }).optional(),
  types: z.array(z.int()).max(2).optional(),
});

function present(value: unknown) {
  return presentInput(inputFields(schema), value);
}

/** Whether every number of a JSON text is kept as it was written. */
function isExact(json: string): boolean {
  const holds = (value: unknown): boolean =>
    value === INEXACT ||
    (typeof value === 'object' && value !== null && Object.values(value).some(holds));
  return !holds(parseExact(json));
}

/** Returns the path and the words of each issue of an input. */
function issues(value: unknown): string[] {
  const result = schema.safeParse(present(value).value, { error: issueWords });
  return result.success
    ? []
    : issuesOf(result.error.issues).map(({ path, message }) => `${path}: ${message}`);
}

describe('null is absent', () => {
  test('for optional fields, nested ones and those with a default', () => {
    const given = { note: null, kind: null, limits: { amount: '1', most: null }, shown: null };
    expect(present(given)).toEqual({ value: { limits: { amount: '1' } }, ignored: [] });
  });

  test('for a required field, which is then missing', () => {
    expect(issues({ name: null, cleared: null })).toEqual(['name: is required']);
  });

  test('but not where it means something', () => {
    expect(present({ cleared: null }).value).toEqual({ cleared: null });
    expect(issues({ name: 'x' })).toEqual(['cleared: is required']);
  });
});

describe('unknown fields', () => {
  test('are ignored and named, nested ones by their path', () => {
    expect(present({ nmae: 1, shown: { titel: 1 } })).toEqual({
      value: { shown: {} },
      ignored: [['nmae'], ['shown', 'titel']],
    });
  });

  test('stay where a misspelled limit would be no limit', () => {
    const limits = { amount: '1', mots: '2' };
    expect(present({ limits })).toEqual({ value: { limits }, ignored: [] });
    expect(issues({ name: 'x', cleared: null, limits })).toEqual([
      'limits.mots: is not a known field: correct the name, or leave the field out',
    ]);
  });

  test('cannot reach the prototype of anything', () => {
    const { value, ignored } = present(JSON.parse('{"__proto__":{"note":"x"},"constructor":1}'));
    expect((value as { note?: string }).note).toBeUndefined();
    expect(ignored).toEqual([['__proto__'], ['constructor']]);
  });

  test('are written as a list of strings, percent-encoded, at most 20 and 1 KiB', () => {
    expect(ignoredFieldsHeader([['amt'], ['shown', 'a.b'], ['"é\n'], ['\ud800']])).toBe(
      '"amt", "shown.a%2Eb", "%22%C3%A9%0A", "%EF%BF%BD"',
    );
    const many = Array.from({ length: 30 }, (_, at) => [`f${at}`]);
    expect(ignoredFieldsHeader(many).split(', ')).toHaveLength(20);
    const long = Array.from({ length: 30 }, () => ['x'.repeat(100)]);
    expect(ignoredFieldsHeader(long).length).toBeLessThanOrEqual(1024);
    expect(ignoredFieldsHeader(long).split(', ')).toHaveLength(9);
  });
});

test('each mistake is told in our own words', () => {
  expect(issues([])).toEqual([': must be an object, not a list']);
  expect(issues({})).toEqual(['name: is required', 'cleared: is required']);
  const rest = { name: 'x', cleared: null };
  expect(issues({ ...rest, name: 5 })).toEqual(['name: must be a string, not a number']);
  expect(issues({ ...rest, name: '' })).toEqual(['name: must not be empty']);
  expect(issues({ ...rest, name: 'long' })).toEqual(['name: must be at most 3 characters long']);
  expect(issues({ ...rest, kind: 'c' })).toEqual(['kind: must be "a" or "b"']);
  expect(issues({ ...rest, limits: {} })).toEqual(['limits.amount: is required']);
  expect(issues({ ...rest, limits: { amount: [] } })).toEqual([
    'limits.amount: must be a string or a number, not a list',
  ]);
  expect(issues({ ...rest, shown: [] })).toEqual(['shown: must be an object, not a list']);
  expect(issues({ ...rest, shown: { title: 1 } })).toEqual([
    'shown.title: must be true or false, not a number',
  ]);
  expect(issues({ ...rest, types: [1, 2, 3] })).toEqual(['types: must hold at most 2 items']);
  expect(issues({ ...rest, types: [1.5] })).toEqual(['types.0: must be a whole number']);
});

test('malformed JSON is told with its place and without its text', () => {
  const told = (text: string) => jsonProblem(text).replace('The body is not JSON: ', '');
  expect(told('{')).toBe('line 1, column 2: a closing brace is missing.');
  expect(told('{"a":1\n "b":2}')).toBe('line 2, column 2: a comma is missing.');
  expect(told("{'secret':1}")).not.toContain('secret');
  expect(told('{"a":}')).toBe('line 1, column 6: a value is missing.');
  expect(told('{"a":1,}')).toMatch(/^line 1, column 8: /);
  expect(told('{"a":1} x')).toMatch(/^line 1, column 9: /);
  expect(told('{"a":"x')).toMatch(/^line 1, column 6: a closing double quote is missing/);
  expect(told('amount=5')).toMatch(/^line 1, column 1: /);
  expect(told('// x\n{}')).toMatch(/comments/);
  expect(jsonProblem('['.repeat(250_000))).toMatch(/^The body is not JSON/);
});

test('a number that would be rounded is noticed, and nothing else is', () => {
  for (const json of [
    '{"amount":2100000000000000.1}',
    '{"amount":4.00000000000000000001}',
    '{"amount":99999999999999999999}',
    '[1,{"a":[0.99999999999999999999]}]',
  ]) {
    expect({ json, exact: isExact(json) }).toEqual({ json, exact: false });
  }
  for (const json of [
    '{"amount":2100000000000000}',
    '{"index":"0001764000000000000-ln_00","note":"4.00000000000000000001 \\" 1"}',
    '{"amount":1000000000000000000000}',
    '{"expires_at":1764000000000,"a":1e400,"b":-0.5}',
    '[0.000000000000000001, 1.5000000000000000000]',
  ]) {
    expect({ json, exact: isExact(json) }).toEqual({ json, exact: true });
  }
});

test('a number that would be rounded is rejected in a known field alone, and named', () => {
  const long = '12345678901234567890';
  const read = (json: string) => parseExact(json.replaceAll('#', long));
  const rest = '"name":"x","cleared":null';
  expect(issues(read(`{${rest},"unknown":#,"shown":{"more":[#]}}`))).toEqual([]);
  const words = 'is a number with too many digits: write an amount as a string';
  expect(issues(read(`{${rest},"limits":{"amount":#}}`))).toEqual([`limits.amount: ${words}`]);
  expect(issues(read(`{${rest},"types":[#]}`))).toEqual([`types.0: ${words}`]);
  expect(issues(read(`{${rest},"note":#}`))).toEqual([`note: ${words}`]);
});

test('a body full of long numbers is read in little time', () => {
  const before = process.cpuUsage();
  expect(isExact(`[1.${'0'.repeat(250_000)}1]`)).toBe(false);
  expect(isExact(`[${'1234567890123456.51,'.repeat(13_000)}1]`)).toBe(false);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1000);
});
