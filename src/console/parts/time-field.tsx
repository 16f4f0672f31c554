import { useId } from 'preact/hooks';

interface TimeFieldProps {
  readonly label: string;
  readonly type: 'date' | 'datetime-local';
  /** As the browser writes it, such as `2027-01-31`; empty for none. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly help?: string;
  readonly isRequired?: boolean;
}

/** A day or a time that a person picks or types. */
export function TimeField({ label, type, value, onChange, help, isRequired }: TimeFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type={type}
        value={value}
        required={isRequired}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {help !== undefined && (
        <p id={`${id}-help`} class="help">
          {help}
        </p>
      )}
    </div>
  );
}
