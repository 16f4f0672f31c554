import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly help?: string;
  /** What is wrong with the value; null for nothing. */
  readonly wrong?: string | null;
  readonly isRequired?: boolean;
  readonly isNumber?: boolean;
  /** The most characters. */
  readonly most?: number;
}

/** A line of text that a person types, with its label, its help and what is wrong with it. */
export function Field(props: FieldProps) {
  const { label, value, onChange, help, wrong = null, isRequired, isNumber, most } = props;
  const id = useId();
  const words = wrong ?? help;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        inputMode={isNumber ? 'decimal' : 'text'}
        autocomplete="off"
        value={value}
        required={isRequired}
        maxLength={most}
        aria-invalid={wrong !== null}
        aria-describedby={words === undefined ? undefined : `${id}-help`}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {words !== undefined && (
        <p id={`${id}-help`} class={wrong === null ? 'help' : 'help wrong'}>
          {words}
        </p>
      )}
    </div>
  );
}
