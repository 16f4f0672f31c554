import { type Decimal, parseDecimal } from './decimal.ts';

/** One less than a decimal may have: the middle between two has one more. */
const MOST_DECIMALS = 30;

/**
 * Reads the number at the first pointer that leads to something in a JSON text. It is read from the text itself, as a
 * JavaScript number would round it. Returns null where there is none, and for every number that {@link parseDecimal}
 * does not read: exponents, signs, zero, too many digits.
 */
export function readRate(json: string, pointers: readonly string[]): Decimal | null {
  const root = parseWithSources(json);
  const found = pointers.map((pointer) => valueAt(root, pointer)).find((one) => one !== undefined);
  const read = typeof found === 'string' ? parseDecimal(found) : null;
  return read !== null && read.decimals <= MOST_DECIMALS ? read : null;
}

/** What JSON.parse calls for each value. The types of this runtime do not know the third argument (ECMAScript 2026). */
type Revive = (key: string, value: unknown) => unknown;

/** Parses JSON with each number as its text. Returns undefined for what is no JSON, or nested too deeply. */
function parseWithSources(json: string): unknown {
  const asText = (_: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === 'number' ? source : value;
  try {
    return JSON.parse(json, asText as Revive);
  } catch {
    return undefined;
  }
}

/** Follows a JSON pointer (RFC 6901). Returns undefined where it leads nowhere. */
function valueAt(root: unknown, pointer: string): unknown {
  const steps = pointer.split('/').slice(1);
  return steps.reduce<unknown>((value, step) => {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    return (value as Readonly<Record<string, unknown>>)[key];
  }, root);
}
