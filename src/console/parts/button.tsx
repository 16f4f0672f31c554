import type { RefObject } from 'preact';

interface ButtonProps {
  readonly words: string;
  readonly onPress: () => void;
  readonly class?: 'main' | 'danger' | 'quiet' | 'skip';
  /** Whether it cannot be pressed now. */
  readonly isBusy?: boolean;
  /** Its name, where its words alone say too little. */
  readonly label?: string;
  /** Whether it is switched on; undefined for a button that is no switch. */
  readonly isOn?: boolean;
  /** Is given the button itself. */
  readonly at?: RefObject<HTMLButtonElement | null>;
}

/** A button that does something when it is pressed. Those that send a form are the form's own. */
export function Button(props: ButtonProps) {
  const { words, onPress, isBusy, label, isOn, at = null } = props;
  return (
    <button
      ref={at}
      type="button"
      class={props.class}
      disabled={isBusy}
      aria-label={label}
      aria-pressed={isOn}
      onClick={() => onPress()}
    >
      {words}
    </button>
  );
}
