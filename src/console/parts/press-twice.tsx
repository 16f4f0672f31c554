import { useState } from 'preact/hooks';
import { text } from '../texts/index.ts';

interface PressTwiceProps {
  /** What the first button says. */
  readonly words: string;
  /** What is asked then, and what the second button says. */
  readonly question: string;
  readonly confirm: string;
  readonly isBusy: boolean;
  readonly onConfirmed: () => void;
}

/** A button for what cannot be undone: it asks, and a second press does it. */
export function PressTwice({ words, question, confirm, isBusy, onConfirmed }: PressTwiceProps) {
  const [isAsked, setAsked] = useState(false);
  if (!isAsked) {
    return (
      <button type="button" disabled={isBusy} onClick={() => setAsked(true)}>
        {words}
      </button>
    );
  }
  return (
    <fieldset class="ask">
      <legend>{question}</legend>
      <button
        type="button"
        class="danger"
        disabled={isBusy}
        onClick={() => {
          setAsked(false);
          onConfirmed();
        }}
      >
        {confirm}
      </button>
      <button type="button" onClick={() => setAsked(false)}>
        {text.cancel}
      </button>
    </fieldset>
  );
}
