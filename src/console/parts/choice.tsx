import { useId } from 'preact/hooks';

interface ChoiceProps<Value extends string> {
  readonly legend: string;
  /** The values with their words, in order. */
  readonly options: readonly (readonly [value: Value, words: string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** One of a few things, chosen by arrow keys or a press. */
export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { legend, options, value, onChange } = props;
  const name = useId();
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      {options.map(([option, words]) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            checked={option === value}
            onChange={() => onChange(option)}
          />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}
