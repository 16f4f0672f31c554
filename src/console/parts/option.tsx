interface OptionProps {
  readonly title: string;
  readonly help?: string;
  readonly isChosen: boolean;
  readonly onChange: (isChosen: boolean) => void;
}

/** Something that a person may choose besides others, with what it means. */
export function Option({ title, help, isChosen, onChange }: OptionProps) {
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
