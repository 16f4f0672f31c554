import { parsedOr } from '../parsed-or.ts';

/** Returns a time or another number that is stored as BIGINT. All of them fit a double. */
export function numberOf(value: bigint): number {
  return Number(value);
}

/** Encodes text that may hold NUL, which PostgreSQL does not store, as JSON. */
export function textJson(text: string | null): string {
  return JSON.stringify(text);
}

/** Decodes what {@link textJson} returned; null for what somebody else wrote into the database. */
export function textOf(json: string): string | null {
  const text = parsedOr<unknown>(json, null);
  return typeof text === 'string' ? text : null;
}
