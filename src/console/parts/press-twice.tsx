import { text } from '../texts/index.ts';
import { useQuestion } from './use-question.ts';

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
  const { isAsked, asking, button, ask, cancel, agreed } = useQuestion<HTMLFieldSetElement>();
  if (!isAsked) {
    return (
      <button ref={button} type="button" disabled={isBusy} onClick={ask}>
        {words}
      </button>
    );
  }
  return (
    <fieldset ref={asking} class="ask" tabIndex={-1}>
      <legend>{question}</legend>
      <button
        type="button"
        class="danger"
        disabled={isBusy}
        onClick={() => {
          agreed();
          onConfirmed();
        }}
      >
        {confirm}
      </button>
      <button type="button" onClick={cancel}>
        {text.cancel}
      </button>
    </fieldset>
  );
}
