import { type Amount, toMsat } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { satsOfMsat } from '../values/sats.ts';

interface MoneyProps {
  /** An amount of the API, or millisatoshis; null where the payer chooses. */
  readonly of: Amount | bigint | null;
  /** The sign before it; none unless given. */
  readonly sign?: '+' | '−' | '';
}

/** An amount in sats, exact, with its unit. */
export function Money({ of, sign = '' }: MoneyProps) {
  if (of === null) return <span class="dim">{text.anyAmount}</span>;
  const amountMsat = typeof of === 'bigint' ? of : toMsat(of);
  return (
    <span class="money">
      {sign}
      {satsOfMsat(amountMsat)} <span class="unit">{text.sats}</span>
    </span>
  );
}
