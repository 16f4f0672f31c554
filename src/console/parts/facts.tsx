import type { ComponentChildren } from 'preact';
import { type Amount, toMsat } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { satsOfMsat } from '../values/sats.ts';

/** What {@link Money} shows. */
export interface MoneyProps {
  /** An amount of the API, or millisatoshis; null where the payer chooses. */
  readonly of: Amount | bigint | null;
  /** The sign before it; none unless given. */
  readonly sign?: '+' | '−' | '' | undefined;
}

/** An amount in sats, exact, with its unit. */
export function Money({ of, sign = '' }: MoneyProps) {
  if (of === null) return <span class="dim">{text.anyAmount}</span>;
  const amountMsat = typeof of === 'bigint' ? of : toMsat(of);
  const [sats, part] = satsOfMsat(amountMsat).split('.');
  return (
    <span class="money">
      {sign}
      {sats}
      {part && <span class="part">.{part}</span>} <span class="unit">{text.sats}</span>
    </span>
  );
}

interface FactProps {
  readonly name: string;
  readonly of: ComponentChildren;
  /** Shows when a pointer rests on the name. */
  readonly title?: string;
  /** The class of both, such as `total`. */
  readonly class?: string;
}

/** A name and its value, a row of a `dl`; nothing where the value is null. */
export function Fact(props: FactProps) {
  const { name, of, title } = props;
  if (of === null) return null;
  return (
    <>
      <dt class={props.class} title={title}>
        {name}
      </dt>
      <dd class={props.class}>{of}</dd>
    </>
  );
}

interface ItemsProps<T> {
  readonly of: readonly T[];
  /** What tells one from the others. */
  readonly keyOf: (item: T) => string | number | null;
  readonly children: (item: T) => ComponentChildren;
}

/** Things as cards beside each other. */
export function Cards<T>({ of, keyOf, children }: ItemsProps<T>) {
  return (
    <ul class="cards">
      {of.map((item) => (
        <li key={keyOf(item)} class="card">
          {children(item)}
        </li>
      ))}
    </ul>
  );
}
