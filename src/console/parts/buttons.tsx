import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { sessionKey } from '../api/session-key.ts';
import type { Act } from '../api/use-act.ts';
import type { KeptAct } from '../api/use-kept-act.ts';
import { text } from '../texts/index.ts';

interface ButtonProps {
  readonly words: string;
  readonly onPress: () => void;
  readonly class?: 'main' | 'danger' | 'grave' | 'quiet' | 'skip';
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

interface Asking {
  readonly isAsked: boolean;
  /** What asks, with `tabIndex` -1. It takes the focus, and not its buttons, so that a key held down does nothing. */
  readonly asking: RefObject<HTMLFieldSetElement | null>;
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly ask: () => void;
  readonly cancel: () => void;
  /** Takes the question away because the answer was yes. */
  readonly agreed: () => void;
}

/** Returns a question in place of a button, which has the focus while it is asked. After "Cancel" the button has it. */
export function useQuestion(): Asking {
  const [state, setState] = useState<'idle' | 'asked' | 'canceled'>('idle');
  const asking = useRef<HTMLFieldSetElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (state === 'asked') asking.current?.focus();
    if (state === 'canceled') button.current?.focus();
  }, [state]);
  return {
    isAsked: state === 'asked',
    asking,
    button,
    ask: () => setState('asked'),
    cancel: () => setState('canceled'),
    agreed: () => setState('idle'),
  };
}

interface QuestionProps extends Pick<Asking, 'asking' | 'cancel'> {
  readonly question: string;
  readonly confirm: string;
  /** What the button says by which nothing is done. */
  readonly stay?: string;
  /** Whether something is lost by it; so it is unless given. */
  readonly isGrave?: boolean;
  readonly isBusy?: boolean;
  readonly onConfirmed: () => void;
}

/** What is asked before something that cannot be undone. */
export function Question(props: QuestionProps) {
  const { asking, cancel, question, confirm, stay = text.cancel, isBusy = false } = props;
  const { isGrave = true } = props;
  return (
    <fieldset ref={asking} class="ask" tabIndex={-1}>
      <legend>{question}</legend>
      <Button
        class={isGrave ? 'danger' : 'main'}
        words={confirm}
        isBusy={isBusy}
        onPress={props.onConfirmed}
      />
      <Button words={stay} onPress={cancel} />
    </fieldset>
  );
}

interface PressTwiceProps {
  readonly words: string;
  readonly question: string;
  /** What the second button says; the same as the first unless given. */
  readonly confirm?: string;
  /** Whether something is taken away by it: an invoice, a client, a channel. */
  readonly isGrave?: boolean;
  readonly act: Pick<Act<void, unknown>, 'isBusy' | 'run'>;
}

/** A button for what cannot be undone: it asks, and a second press does it. */
export function PressTwice(props: PressTwiceProps) {
  const { words, question, confirm = words, isGrave = false, act } = props;
  const { isAsked, asking, button, ask, cancel, agreed } = useQuestion();
  if (!isAsked) {
    const first = { at: button, words, isBusy: act.isBusy, onPress: ask };
    return isGrave ? <Button class="grave" {...first} /> : <Button {...first} />;
  }
  const run = () => {
    agreed();
    act.run();
  };
  const shown = { asking, cancel, question, confirm, isGrave, isBusy: act.isBusy };
  return <Question {...shown} onConfirmed={run} />;
}

/** Signs out. A device is asked first, because only the owner lets it in again. */
export function SignOut({ onSignOut }: { readonly onSignOut: () => void }) {
  if (!sessionKey.isOfDevice()) {
    return <Button class="quiet" words={text.signOut} onPress={onSignOut} />;
  }
  return <PressTwice {...text.signOutDevice} act={{ isBusy: false, run: onSignOut }} isGrave />;
}

interface AskAgainProps {
  readonly act: Pick<KeptAct<never, unknown>, 'isBusy' | 'again'>;
  readonly onGivenUp: () => void;
}

/** What can be done while nobody knows whether something was done. */
export function AskAgain({ act: { isBusy, again }, onGivenUp }: AskAgainProps) {
  return (
    <div class="actions">
      <Button class="main" words={text.askAgain} isBusy={isBusy} onPress={again} />
      <Button words={text.giveUp} isBusy={isBusy} onPress={onGivenUp} />
    </div>
  );
}
