import { hex } from '@scure/base';
import { decodeBolt11 } from '../codecs/bolt11/index.ts';
import { formatAmountMsat, parseAmountMsat } from '../model/amount.ts';

/** Why a request is not done, in the words of NIP-47. */
export class Problem extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
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
    isTrue: (name: string): boolean => given[name] === true,
    required: (name: string): string => {
      const found = text(name);
      if (found !== undefined) return found;
      throw must(name, 'given');
    },
    bytes: (name: string): Uint8Array => {
      const found = text(name) ?? '';
      if (/^([0-9a-f]{2})+$/i.test(found)) return hex.decode(found.toLowerCase());
      throw must(name, 'hex');
    },
    /** An amount of millisatoshis as the API has it, in sats. */
    amount: (name: string): string | undefined => {
      const found = whole(name);
      return found ? formatAmountMsat(BigInt(found)) : undefined;
    },
    invoice: () => {
      try {
        return decodeBolt11((text('invoice') ?? '').toLowerCase().replace(/^lightning:/, ''));
      } catch {
        throw must('invoice', 'a BOLT 11 invoice');
      }
    },
    list: (name: string) => {
      const found = given[name];
      if (Array.isArray(found)) return found.map(paramsOf);
      throw must(name, 'a list');
    },
    /** What would be left out must not be taken for done. */
    without: (...names: readonly string[]) => {
      const found = names.find((name) => (given[name] ?? '') !== '');
      if (found) throw new Problem('NOT_IMPLEMENTED', `${found}: is not offered: leave it out`);
    },
  };
}

/** Millisatoshis of an amount of the API; 0 for none. */
export const msatOf = (amount: string | null): number =>
  Number(parseAmountMsat(amount ?? '0') ?? 0n);

/** Seconds of a time in milliseconds; undefined for none. */
export const secsOf = (ms: number | null) => (ms === null ? undefined : Math.floor(ms / 1000));
