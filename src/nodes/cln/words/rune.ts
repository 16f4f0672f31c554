import { base64url } from '@scure/base';

/** Reads runes, the tokens of Core Lightning. Their signature is checked by the node alone. */

/** A rune holds where every restriction holds; a restriction holds where one of its alternatives does. */
export interface Rune {
  /** The number by which the node can end the rune; empty for one that has none. */
  readonly uniqueId: string;
  readonly restrictions: readonly (readonly Alternative[])[];
}

interface Alternative {
  readonly field: string;
  readonly condition: string;
  readonly value: string;
}

const SIGNATURE_BYTES = 32;
/** A field's name has no ASCII punctuation but `_`; the first other mark is the condition. */
const ALTERNATIVE = /^([^!-/:-@[-^`{-~]*)([!=/^$~<>{}#])([\s\S]*)$/;

/** Reads a rune. Returns null for a text that is none. */
export function readRune(text: string): Rune | null {
  const encoded = restrictionsIn(text);
  if (encoded === null) return null;
  const restrictions = split(encoded, '&').map((one) => split(one, '|').map(readAlternative));
  if (restrictions.some((one) => one.includes(null))) return null;
  const [first, ...others] = restrictions as Alternative[][];
  const [id] = first ?? [];
  if (first?.length !== 1 || id?.field !== '' || id.condition !== '=') return null;
  return { uniqueId: id.value.split('-')[0] ?? '', restrictions: others };
}

function restrictionsIn(text: string): string | null {
  try {
    const bytes = base64url.decode(text.padEnd(Math.ceil(text.length / 4) * 4, '='));
    if (bytes.length < SIGNATURE_BYTES) return null;
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(SIGNATURE_BYTES));
  } catch {
    return null;
  }
}

/** Splits at a separator that no backslash precedes. */
function split(text: string, separator: '&' | '|'): string[] {
  const parts = [''];
  for (const [part] of text.matchAll(/\\[\s\S]|[^\\]/g)) {
    if (part === separator) parts.push('');
    else parts[parts.length - 1] += part;
  }
  return parts;
}

function readAlternative(text: string): Alternative | null {
  const [, field, condition, value] = ALTERNATIVE.exec(text) ?? [];
  if (field === undefined || condition === undefined || value === undefined) return null;
  return { field, condition, value: value.replace(/\\([\s\S])/g, '$1') };
}

/**
 * Returns whether the rune allows a method with every parameter, as long as the rune is valid. Restrictions of
 * parameters count as not held, because the method would not serve every request then; so do those of the calling peer,
 * because a call by HTTP has none.
 */
export function allowsMethod(rune: Rune, method: string): boolean {
  return rune.restrictions.every((one) => one.some((alternative) => holds(alternative, method)));
}

/** Fields that end or slow down all calls together. A limit of the rate forbids none of them. */
const OF_ALL_CALLS: ReadonlySet<string> = new Set(['time', 'rate', 'per']);

/** Conditions on the method. Others do not hold. */
const CONDITIONS: ReadonlyMap<string, (method: string, value: string) => boolean> = new Map([
  ['=', (method, value) => method === value],
  ['/', (method, value) => method !== value],
  ['^', (method, value) => method.startsWith(value)],
  ['$', (method, value) => method.endsWith(value)],
  ['~', (method, value) => method.includes(value)],
  ['{', (method, value) => method < value],
  ['}', (method, value) => method > value],
]);

function holds({ field, condition, value }: Alternative, method: string): boolean {
  if (condition === '#' || OF_ALL_CALLS.has(field)) return true;
  return field === 'method' && CONDITIONS.get(condition)?.(method, value) === true;
}

/** Fields by which a rune bounds how fast calls may follow each other. */
const OF_THE_RATE: ReadonlySet<string> = new Set(['rate', 'per']);

/** Returns the limits of the rate that a rune has, as `createrune` writes them. */
export function ratesOf(rune: Rune): string[] {
  return rune.restrictions
    .flat()
    .filter(({ field, condition }) => condition !== '#' && OF_THE_RATE.has(field))
    .map(({ field, condition, value }) => `${field}${condition}${value}`);
}

/** Returns the comments of a rune under a field's name. A comment restricts nothing. */
export function commentsOf(rune: Rune, field: string): string[] {
  return rune.restrictions
    .flat()
    .filter((one) => one.field === field && one.condition === '#')
    .map(({ value }) => value);
}
