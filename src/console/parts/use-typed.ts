import { useState } from 'preact/hooks';
import { type Amount, fromMsat } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { typedMsat } from '../values/sats.ts';

/** What a person types into a field. */
export interface Typed {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** {@link Typed} words. */
export interface TypedWords extends Typed {
  /** The words without spaces around them; undefined for none. */
  readonly given: string | undefined;
}

/** {@link Typed} sats. */
export interface TypedAmount extends Typed {
  /** Null for what is no amount. */
  readonly msat: bigint | null;
  /** The same for the API; undefined for none. */
  readonly amount: Amount | undefined;
  /** What is wrong with what is there; null for nothing. */
  readonly wrong: string | null;
}

/** Returns words that a person types. */
export function useTyped(start = ''): TypedWords {
  const [value, onChange] = useState(start);
  return { value, onChange, given: value.trim() || undefined };
}

/** Returns sats that a person types. */
export function useTypedAmount(start = ''): TypedAmount {
  const { value, onChange, given } = useTyped(start);
  const msat = typedMsat(value);
  const amount = msat === null ? undefined : fromMsat(msat);
  const wrong = given !== undefined && msat === null ? text.wrongAmount : null;
  return { value, onChange, msat, amount, wrong };
}
