import type { z } from 'zod';
import type { Issue } from '../../model/errors.ts';
import { INEXACT } from './exact-numbers.ts';

/** The largest number of issues in one answer. */
const MOST_ISSUES = 20;
/** The largest number of characters of a field name in a message, as callers may send names of any length. */
const LONGEST_NAME = 60;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Returns this project's own words for an issue for which the schema gives no message (docs/decisions.md 13). */
export function issueWords(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType([issue.expected], issue.input);
    case 'invalid_union':
      return wrongType(
        issue.errors.flat().flatMap((inner) => ('expected' in inner ? [inner.expected] : [])),
        issue.input,
      );
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return `must be ${oneOf(issue.values.map((value) => JSON.stringify(value)))}`;
    case 'too_small':
      return `must ${bound(issue.origin, 'least', Number(issue.minimum))}`;
    case 'too_big':
      return `must ${bound(issue.origin, 'most', Number(issue.maximum))}`;
    default:
      return 'has none of the accepted forms';
  }
}

/** Returns the issues of a rejected input, each with the path to its field. */
export function issuesOf(issues: readonly z.core.$ZodIssue[]): Issue[] {
  const told = new Set<string>();
  const further = issues.filter((issue) => !isOwnBoundOfIntegers(issue));
  return (further.length > 0 ? further : issues)
    .flatMap((issue): Issue[] => {
      const path = issue.path.map(String);
      if (issue.code !== 'unrecognized_keys') {
        return [{ path: path.join('.'), message: issue.message }];
      }
      return issue.keys.map((key) => ({
        path: [...path, shortened(key.toWellFormed())].join('.'),
        message: 'is not a known field: correct the name, or leave the field out',
      }));
    })
    .filter(({ path }) => {
      // What a value of the wrong type is besides would contradict the first sentence.
      const isFirst = !told.has(path);
      told.add(path);
      return isFirst;
    })
    .slice(0, MOST_ISSUES);
}

/** Whether the bound is that of all whole numbers, which says less than the field's own. */
function isOwnBoundOfIntegers(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'too_big') return issue.maximum === Number.MAX_SAFE_INTEGER;
  return issue.code === 'too_small' && issue.minimum === Number.MIN_SAFE_INTEGER;
}

function wrongType(expected: readonly string[], input: unknown): string {
  if (input === undefined) return 'is required';
  if (typeof input === 'number' && !Number.isFinite(input)) return 'is a number out of all range';
  if (input === INEXACT) return 'is a number with too many digits: write an amount as a string';
  const wanted = oneOf([...new Set(expected)].map((type) => TYPES[type] ?? type));
  // A message "must be a whole number, not a number" would read as a contradiction.
  const isNumber = typeof input === 'number' && expected.includes('int');
  return `must be ${wanted}${isNumber ? '' : `, not ${typeInWords(input)}`}`;
}

function typeInWords(input: unknown): string {
  if (input === null) return 'null';
  return TYPES[Array.isArray(input) ? 'array' : typeof input] ?? typeof input;
}

function bound(origin: string, side: 'least' | 'most', limit: number): string {
  if (origin === 'string') {
    return side === 'least' && limit === 1
      ? 'not be empty'
      : `be at ${side} ${limit} characters long`;
  }
  if (origin === 'array') return `hold at ${side} ${limit} ${limit === 1 ? 'item' : 'items'}`;
  return `be at ${side} ${limit}`;
}

/** Joins words by commas, and the last one by "or". */
export function oneOf(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

function shortened(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}...`;
}
