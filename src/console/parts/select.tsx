import { useId } from 'preact/hooks';

interface SelectProps<Value extends string> {
  readonly label: string;
  /** The words of each value, in order. */
  readonly options: Readonly<Record<Value, string>>;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** One of several things, chosen from a list. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, options, value, onChange } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
      >
        {(Object.keys(options) as Value[]).map((one) => (
          <option key={one} value={one}>
            {options[one]}
          </option>
        ))}
      </select>
    </div>
  );
}
