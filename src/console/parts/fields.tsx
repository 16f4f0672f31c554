import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { type Amount, fromMsat } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { typedMsat } from '../values/sats.ts';

interface LabeledProps {
  readonly label: string;
  readonly help?: string | undefined;
  /** What is wrong with the value; null for nothing. */
  readonly wrong?: string | null;
}

type Described = { readonly id: string; readonly 'aria-describedby': string | undefined };

/** Something that a person fills in, with its label, its help and what is wrong with it. */
function Labeled({
  label,
  help,
  wrong = null,
  children,
}: LabeledProps & { readonly children: (described: Described) => ComponentChildren }) {
  const id = useId();
  const words = wrong ?? help;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': words === undefined ? undefined : `${id}-help` })}
      {words !== undefined && (
        <p id={`${id}-help`} class={wrong === null ? 'help' : 'help wrong'}>
          {words}
        </p>
      )}
    </div>
  );
}

interface FieldProps extends LabeledProps {
  readonly of: Typed;
  /** For a day or a time, which the browser writes such as `2027-01-31`; words unless given. */
  readonly type?: 'date' | 'datetime-local';
  readonly isRequired?: boolean;
  readonly isNumber?: boolean;
  readonly most?: number;
  /** Whether typing begins here: it has the focus when the form is shown. */
  readonly isFirst?: boolean;
}

/** A line that a person types, or a day or a time that they pick. */
export function Field(props: FieldProps) {
  const { of, type, isRequired, isNumber, most, isFirst, ...labeled } = props;
  const words = {
    type: 'text',
    inputMode: isNumber ? 'decimal' : 'text',
    autocomplete: 'off',
    'aria-invalid': (labeled.wrong ?? null) !== null,
  } as const;
  return (
    <Labeled {...labeled}>
      {(described) => (
        <input
          {...described}
          {...(type === undefined ? words : { type })}
          value={of.value}
          required={isRequired}
          maxLength={most}
          autofocus={isFirst}
          onInput={({ currentTarget }) => of.onChange(currentTarget.value)}
        />
      )}
    </Labeled>
  );
}

/** The most characters of an order number (docs/decisions.md 184). */
const MOST_ORDER_NUMBER = 255;

/** The caller's own id of a payment, which only the caller sees. */
export function OrderNumber({ of }: Pick<FieldProps, 'of'>) {
  return <Field {...text.orderNumber} of={of} most={MOST_ORDER_NUMBER} />;
}

interface OneOfProps<Value extends string> {
  /** The words of each value, in order. */
  readonly options: Readonly<Partial<Record<Value, string>>>;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** One of several things, chosen from a list. */
export function Select<Value extends string>(
  props: OneOfProps<Value> & { readonly label: string },
) {
  const { label, options, value, onChange } = props;
  return (
    <Labeled label={label}>
      {(described) => (
        <select
          {...described}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
        >
          {(Object.keys(options) as Value[]).map((one) => (
            <option key={one} value={one}>
              {options[one]}
            </option>
          ))}
        </select>
      )}
    </Labeled>
  );
}

/** One of a few things, chosen by arrow keys or a press. */
export function Choice<Value extends string>(
  props: OneOfProps<Value> & { readonly legend: string },
) {
  const { legend, options, value, onChange } = props;
  const name = useId();
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      {(Object.keys(options) as Value[]).map((one) => (
        <label key={one}>
          <input type="radio" name={name} checked={one === value} onChange={() => onChange(one)} />
          <span>{options[one]}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface OptionProps {
  /** What it is, and what that means. */
  readonly words: readonly [title: string, help?: string];
  readonly isChosen: boolean;
  readonly onChange: (isChosen: boolean) => void;
}

/** Something that a person may choose besides others. */
export function Option({ words: [title, help], isChosen, onChange }: OptionProps) {
  return (
    <label class="option">
      <input
        type="checkbox"
        checked={isChosen}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>
        {title}
        {help !== undefined && <span class="help">{help}</span>}
      </span>
    </label>
  );
}

interface OptionsProps<Value extends string> {
  readonly legend: string;
  readonly offered: readonly Value[];
  readonly wordsOf: (value: Value) => OptionProps['words'];
  readonly chosen: readonly Value[];
  readonly onChange: (value: Value, isChosen: boolean) => void;
}

/** Several things of which any may be chosen. */
export function Options<Value extends string>(props: OptionsProps<Value>) {
  const { legend, offered, wordsOf, chosen, onChange } = props;
  return (
    <fieldset class="options">
      <legend>{legend}</legend>
      {offered.map((one) => (
        <Option
          key={one}
          words={wordsOf(one)}
          isChosen={chosen.includes(one)}
          onChange={(isChosen) => onChange(one, isChosen)}
        />
      ))}
    </fieldset>
  );
}

/** What a person types into a field. */
export interface Typed {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

interface TypedWords extends Typed {
  /** The words without spaces around them; undefined for none. */
  readonly given: string | undefined;
}

interface TypedAmount extends Typed {
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

/** How long a person who goes on typing pauses at most. */
const PAUSE_MS = 250;

/** Returns what was typed when the person paused. */
export function usePaused<T>(typed: T): T {
  const [paused, setPaused] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return paused;
}

/** Returns sats that a person types. */
export function useTypedAmount(start = ''): TypedAmount {
  const { value, onChange, given } = useTyped(start);
  const msat = typedMsat(value);
  const amount = msat === null ? undefined : fromMsat(msat);
  const wrong = given !== undefined && msat === null ? text.wrongAmount : null;
  return { value, onChange, msat, amount, wrong };
}
