import { formatAmountMsat, parseAmountMsat } from '../model/amount.ts';
import type { Refusal } from '../phoenixd/caller.ts';

/** Why a request is not done, in the words of NIP-47. */
export class Problem extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The codes of NIP-47 for errors of the API. */
const CODES: Readonly<Record<number, string>> = {
  8: 'RATE_LIMITED',
  104: 'UNAUTHORIZED',
  107: 'NOT_FOUND',
  108: 'RESTRICTED',
  109: 'QUOTA_EXCEEDED',
  110: 'NOT_IMPLEMENTED',
};
/** What nodes say of an amount that their channels cannot send. */
const TOO_LITTLE = /^The wallet can send \S+ sats over Lightning/;

/** The error for one of the API; null for one that nobody expected. */
export function problemOf(refusal: Refusal | null): { code: string; message: string } {
  if (refusal === null) return { code: 'INTERNAL', message: 'The log of the sidecar says more.' };
  const { message, code } = refusal;
  if (TOO_LITTLE.test(message)) return { code: 'INSUFFICIENT_BALANCE', message };
  if (code === 6) return { code: 'INTERNAL', message };
  return { code: CODES[code ?? 0] ?? 'OTHER', message };
}

/** The parameters of a request. One that is null or an empty text is not given. */
export type Params = ReturnType<typeof paramsOf>;

/** Reads parameters. Its functions throw {@link Problem}. */
export function paramsOf(value: unknown) {
  const given: Readonly<Record<string, unknown>> = { ...Object(value) };
  const must = (name: string, rule: string) => new Problem('OTHER', `${name}: must be ${rule}`);
  const text = (name: string): string | undefined => {
    const found = given[name] ?? '';
    if (typeof found === 'string') return found || undefined;
    throw must(name, 'a text');
  };
  const whole = (name: string): number | undefined => {
    const found = given[name] ?? undefined;
    if (found === undefined) return found;
    if (typeof found === 'number' && Number.isSafeInteger(found) && found >= 0) return found;
    throw must(name, 'a whole number');
  };
  return {
    text,
    whole,
    given: (name: string): boolean => Boolean(given[name]) && String(given[name]) !== '',
    required(name: string): string {
      const found = text(name);
      if (found !== undefined) return found;
      throw new Problem('OTHER', `${name}: is required`);
    },
    /** An amount of millisatoshis as the API has it, in sats; null where there is none. */
    amount(name: string): string | null {
      const found = whole(name);
      return found ? formatAmountMsat(BigInt(found)) : null;
    },
    list(name: string) {
      const found = given[name];
      if (Array.isArray(found)) return found.map(paramsOf);
      throw must(name, 'a list');
    },
  };
}

/** Millisatoshis of an amount of the API; 0 for none. */
export const msatOf = (amount: string | null): number =>
  Number(parseAmountMsat(amount ?? '0') ?? 0n);

/** Seconds of a time in milliseconds. */
export const secsOf = (ms: number): number => Math.floor(ms / 1000);
