import type { ComponentChildren } from 'preact';
import type { Act } from '../api/use-act.ts';
import { Problem } from './notices.tsx';

/** How a form is drawn, and what it does. */
export interface FormProps {
  readonly class?: string;
  /** How it stands what the form does; left out where that is shown elsewhere. */
  readonly act?: Pick<Act<never, unknown>, 'isBusy' | 'error'>;
  /** What the button says that sends it. */
  readonly submit: string;
  /** Whether the button stands back, because other things matter more. */
  readonly isQuiet?: boolean;
  /** Whether it can be sent as it is. */
  readonly isReady?: boolean;
  /** Whether the browser checks nothing, because the form does. */
  readonly isChecked?: boolean;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
  /** What is said before its button. */
  readonly told?: ComponentChildren;
}

/** A form: its fields, why it has not worked, and the button that sends it. */
export function Form(props: FormProps) {
  const { act = IDLE, submit, isQuiet = false, isReady = true, isChecked, onSubmit } = props;
  const send = inPlace(() => isReady && onSubmit());
  return (
    <form class={props.class} noValidate={isChecked} onSubmit={send}>
      {props.children}
      <Problem error={act.error} />
      {props.told}
      <button type="submit" class={isQuiet ? undefined : 'main'} disabled={!isReady || act.isBusy}>
        {submit}
      </button>
    </form>
  );
}

const IDLE = { isBusy: false, error: null };

/** Returns what a form does when it is sent, in place of the browser, which would load another page. */
export function inPlace(act: () => unknown): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    act();
  };
}
