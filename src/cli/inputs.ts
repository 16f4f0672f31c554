import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { systemClock } from '../lib/clock.ts';
import { parseAmountMsat } from '../model/amount.ts';
import { idPartInput, paymentIndexInput, updatedIndexInput } from '../model/payment-index.ts';
import { decimalsOf, type Price, priceInput } from '../model/prices/price.ts';
import { hexInput, nodePkInput } from '../model/text.ts';
import { parseWebUrl } from '../model/web-url.ts';

/** Returns an amount above zero. Throws InvalidArgumentError (exit code 2), as all functions of this file do. */
export function readPositiveAmount(text: string): string {
  if ((parseAmountMsat(text) ?? 0n) > 0n) return text;
  throw new InvalidArgumentError(
    'It must be an amount in satoshis above zero, with at most three decimals and no separators, such as 1000 or 0.5',
  );
}

/** Returns an amount, which may be zero, in the form of the API. */
export function readAmount(text: string): string {
  if (parseAmountMsat(text) !== null) return text;
  throw new InvalidArgumentError(
    'It must be an amount in satoshis, with at most three decimals and no separators, such as 10 or 0.5',
  );
}

/** Returns a price in the form of the API. The text is an amount and a currency, such as `12.50 EUR`. */
export function readPrice(text: string): Price {
  const [amount = '', currency = '', ...more] = text.trim().split(/ +/);
  const read = priceInput().safeParse({ currency: currency.toUpperCase(), amount });
  if (read.success && more.length === 0) return read.data;
  throw new InvalidArgumentError(
    'It must be an amount and a currency in quotes, with no more decimals than the currency has, such as "12.50 EUR"',
  );
}

/** Returns the code of a currency in the form of the API. */
export function readCurrency(text: string): string {
  const code = text.toUpperCase();
  if (decimalsOf(code) !== null) return code;
  throw new InvalidArgumentError('It must be a currency, such as EUR');
}

/** Returns a function that reads a whole number within bounds. */
export function readWholeIn(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}`);
  };
}

const SECS_PER_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns a duration in seconds, of a whole number of seconds, or one with `s`, `m`, `h` or `d`. */
export function readSeconds(text: string): number {
  const secs = durationSecs(text);
  if (secs !== null) return secs;
  throw new InvalidArgumentError(
    'It must be a number of seconds, or a duration such as 90s, 15m, 2h or 7d',
  );
}

/** Returns a function that reads a duration as {@link readSeconds} does, which must be from one second to `most`. */
export function readSecondsUpTo(most: string): (text: string) => number {
  const mostSecs = durationSecs(most) ?? 0;
  return (text) => {
    const secs = readSeconds(text);
    if (secs >= 1 && secs <= mostSecs) return secs;
    throw new InvalidArgumentError(`It must be a duration from 1s to ${most}`);
  };
}

/** Returns a time in milliseconds since the epoch, of such a number, ISO 8601, or a duration from now. */
export function readFuture(text: string): number {
  const atMs = readTime(text, 1, 'from now on');
  if (atMs > systemClock.now()) return atMs;
  throw new InvalidArgumentError('It must be in the future');
}

/** Works as {@link readFuture}, but a duration counts back from now. */
export function readPast(text: string): number {
  return readTime(text, -1, 'back from now');
}

/** The name of the newest payment. */
export const LAST = 'last';

/** Returns what names a payment (docs/decisions.md 102): an index, `last`, or hex of an index in lower case. */
export function readPaymentName(text: string): string {
  const name = text.toLowerCase();
  if (name === LAST || idPartInput().safeParse(name).success) return name;
  if (paymentIndexInput().safeParse(text).success) return text;
  throw new InvalidArgumentError(
    'It must be an id of a payment as "wallet-sidecar payments" shows it, at least 4 of its first or last characters, an index, or "last"',
  );
}

/** Returns the position of an update, which waits and streams go on from. */
export const readPosition = readBy(
  updatedIndexInput,
  'It must be the position of an update, as "wallet-sidecar updates" and "events" show it',
);

/** Returns an Idempotency-Key (docs/decisions.md 49). */
export function readKey(text: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 255 printable ASCII characters');
}

/** Returns what is typed to name something that a list shows. */
export function readName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It must not be empty');
}

/** Returns the public key of a node in lowercase hex. */
export const readNodePk = readBy(
  nodePkInput,
  'It must be the public key of a node: 66 hex characters',
);

/** Returns 32 bytes in lowercase hex. */
export const readHex32 = readBy(() => hexInput(32), 'It must be 64 hex characters');

/** Returns 16 bytes in lowercase hex. */
export const readHex16 = readBy(() => hexInput(16), 'It must be 32 hex characters');

/** Returns a function that reads what the schema of the API takes. */
function readBy<T>(schema: () => z.ZodType<T>, rule: string): (text: string) => T {
  return (text) => {
    const read = schema().safeParse(text);
    if (read.success) return read.data;
    throw new InvalidArgumentError(rule);
  };
}

/** Returns an http or https URL. */
export function readWebUrl(text: string): string {
  const parsed = parseWebUrl(text);
  if ('value' in parsed) return parsed.value;
  throw new InvalidArgumentError(`It ${parsed.problem}`);
}

/** Returns a function that reads a flag which may be repeated and may hold several names separated by commas. */
export function readNames<const T extends string>(
  allowed: readonly T[],
): (text: string, before?: readonly T[]) => readonly T[] {
  return (text, before = []) => [
    ...before,
    ...text.split(',').map((name) => {
      const known = allowed.find((candidate) => candidate === name.trim());
      if (known !== undefined) return known;
      throw new InvalidArgumentError(`The allowed values are ${allowed.join(', ')}`);
    }),
  ];
}

function readTime(text: string, sign: 1 | -1, direction: string): number {
  if (/^\d{11,15}$/.test(text)) return Number(text);
  const secs = /[smhd]$/.test(text) ? durationSecs(text) : null;
  if (secs !== null) return systemClock.now() + sign * secs * 1000;
  // A day alone begins at midnight of this time zone, as a day with a time does.
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text;
  const atMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(day) : Number.NaN;
  if (atMs >= 0) return atMs;
  throw new InvalidArgumentError(
    `It must be a time such as 2030-01-31 or 2030-01-31T12:00:00Z, a duration ${direction} such as 7d, or milliseconds since 1970`,
  );
}

function durationSecs(text: string): number | null {
  const match = /^(\d{1,9})([smhd]?)$/.exec(text);
  return match ? Number(match[1]) * (SECS_PER_UNIT[match[2] ?? ''] ?? 1) : null;
}
