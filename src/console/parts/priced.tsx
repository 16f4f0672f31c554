import type { CreatedInvoice, CreateInvoiceRequest, Payment } from '../../client/index.ts';
import { useSignedIn } from '../api/signed-in.tsx';
import { useAsked } from '../api/use-asked.ts';
import { useKeptValue } from '../api/use-kept-value.ts';
import { text } from '../texts/index.ts';
import { aboutMsat, isUnclear, priceText, typedPrice } from '../values/price.ts';
import { satsOfMsat } from '../values/sats.ts';
import { Money, type MoneyProps } from './facts.tsx';
import { Field, Select, type Typed, usePaused, useTypedAmount } from './fields.tsx';

/** A currency, or {@link SATS}. */
type Unit = string;
const SATS = 'sats';

/** {@link Typed} sats, or a price. */
export interface TypedPriced extends Typed {
  readonly unit: Unit;
  /** The currency that was typed last in this browser. */
  readonly last: Unit;
  readonly onUnit: (unit: Unit) => void;
  /** For the API; empty for nothing. */
  readonly asked: Pick<CreateInvoiceRequest, 'amount' | 'price'>;
  /** What is wrong with what is there; null for nothing. */
  readonly wrong: string | null;
}

/** Returns sats or a price that a person types, in what the browser remembers (docs/decisions.md 201). */
export function useTypedPriced(): TypedPriced {
  const { about } = useSignedIn();
  const { value, keep } = useKeptValue<Pick<TypedPriced, 'unit' | 'last'>>('unit', localStorage);
  const { unit, last } = (about.rates && value) || { unit: SATS, last: SATS };
  const { amount, wrong, ...sats } = useTypedAmount();
  const onUnit = (unit: Unit) => keep({ unit, last: unit === SATS ? last : unit });
  const typed = { ...sats, unit, last, onUnit };
  if (isUnclear(typed.value, unit)) return { ...typed, asked: {}, wrong: text.unclearNumber };
  if (unit === SATS) return { ...typed, asked: { amount }, wrong };
  const price = typedPrice(typed.value);
  return {
    ...typed,
    asked: price === null ? {} : { price: { currency: unit, amount: price } },
    wrong: price === null && typed.value.trim() !== '' ? text.wrongPrice : null,
  };
}

interface PricedFieldProps {
  readonly of: TypedPriced;
  readonly help?: string;
  readonly isRequired?: boolean;
  readonly isFirst?: boolean;
}

/** A line for sats or a price, which says what the price is worth at the present rate, and in what it is typed. */
export function PricedField({ of, help, ...field }: PricedFieldProps) {
  const { about } = useSignedIn();
  const { unit, last, onUnit, asked, wrong, ...typed } = of;
  const price = asked.price?.amount;
  const paused = usePaused(price);
  const { value: known, error } = useAsked(
    async ({ api }, signal) =>
      paused === undefined ? null : { unit, ...(await api.rate({ currency: unit }, { signal })) },
    [unit, paused],
  );
  const worth =
    price !== undefined && known?.unit === unit
      ? text.receive.worth(satsOfMsat(aboutMsat(price, known.rate)))
      : help;
  const noRate = price === undefined ? null : (error?.message ?? null);
  return (
    <>
      <Field
        label={unit === SATS ? text.receive.amount.label : text.receive.amountIn(unit)}
        help={worth}
        wrong={wrong ?? noRate}
        of={typed}
        isNumber
        {...field}
      />
      {about.rates && (
        <Select
          label={text.receive.unit}
          options={{ [SATS]: text.sats, [last]: last, ...CURRENCIES }}
          value={unit}
          onChange={onUnit}
        />
      )}
    </>
  );
}

const CURRENCIES = Object.fromEntries(Intl.supportedValuesOf('currency').map((one) => [one, one]));

/** An invoice that was made, with its price, which the answer does not repeat. */
export type Priced = CreatedInvoice & Pick<CreateInvoiceRequest, 'price'>;

interface PricedMoneyProps extends Pick<MoneyProps, 'sign'> {
  readonly of: Pick<Payment | Priced, 'price' | 'amount'>;
}

/** The price of a payment in large type, where it has one, and its amount. */
export function PricedMoney({ of, sign }: PricedMoneyProps) {
  return (
    <>
      {of.price && <span class="price">{priceText(of.price)}</span>}
      <Money of={of.amount} sign={sign} />
    </>
  );
}
