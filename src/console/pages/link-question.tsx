import { useEffect, useState } from 'preact/hooks';
import { openSidecar } from '../api/sidecar.ts';
import { text } from '../texts/index.ts';

interface LinkQuestionProps {
  /** The key of the session that the browser has. */
  readonly sessionKey: string;
  /** Called when the link may be used: the person said so, or the session has ended. */
  readonly onUse: () => void;
  readonly onStay: () => void;
}

/**
 * Asks before a link replaces a session. A stranger's link would otherwise show the stranger's wallet to somebody who
 * takes it for their own (docs/decisions.md 132).
 */
export function LinkQuestion({ sessionKey, onUse, onStay }: LinkQuestionProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const heard = { onReached: () => undefined, onStream: () => undefined, onEnded: onUse };
    const ask = () => setOpen(true);
    openSidecar(sessionKey, heard).about().then(ask, ask);
  }, [sessionKey]);
  if (!isOpen) {
    return (
      <main class="alone">
        <p role="status">{text.loading}</p>
      </main>
    );
  }
  return (
    <main class="alone">
      <h1>{text.signIn.alreadyIn}</h1>
      <p>{text.signIn.replaceWords}</p>
      <div class="buttons">
        <button type="button" class="main" onClick={onStay}>
          {text.signIn.stay}
        </button>
        <button type="button" onClick={onUse}>
          {text.signIn.replace}
        </button>
      </div>
    </main>
  );
}
