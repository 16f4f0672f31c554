import { useEffect, useRef } from 'preact/hooks';
import { askBeforeLeaving } from '../api/leaving.ts';
import { text } from '../texts/index.ts';
import { Button, Question, useQuestion } from './buttons.tsx';
import { Copy, Qr } from './copy.tsx';

interface SecretOnceProps {
  readonly title: string;
  /** What the secret is, for the name of the button that copies it. */
  readonly label: string;
  readonly secret: string;
  readonly words: string;
  /** Whether an application scans it. */
  readonly hasQr?: boolean;
  /** What the button says that takes it away. */
  readonly done: string;
  /** Must forget the secret. Called when the browser leaves the page. */
  readonly onGone: () => void;
  /** Must forget the secret. Called by the button. */
  readonly onDone: () => void;
}

/**
 * A secret that is shown this once. It is in no storage, and a browser that comes back to the page finds it gone. Who
 * leaves without saying that it is stored is asked first.
 */
export function SecretOnce(props: SecretOnceProps) {
  const { title, label, secret, words, onGone, onDone } = props;
  useEffect(() => {
    addEventListener('pagehide', onGone);
    return () => removeEventListener('pagehide', onGone);
  });
  /** Goes where somebody was about to go. */
  const wayOut = useRef<() => void>(() => undefined);
  const { isAsked, asking, button, ask, cancel } = useQuestion();
  const endAsking = useRef<() => void>(() => undefined);
  useEffect(() => {
    endAsking.current = askBeforeLeaving((go) => {
      wayOut.current = go;
      ask();
    });
    return endAsking.current;
  }, []);
  const done = () => {
    endAsking.current();
    onDone();
  };
  const leave = () => {
    endAsking.current();
    onGone();
    wayOut.current();
  };
  return (
    <section class="card secret" aria-label={title}>
      <div role="status">
        <h2>{title}</h2>
        <p>{words}</p>
      </div>
      {props.hasQr && <Qr content={secret} label={label} />}
      <Copy value={secret} label={label} />
      <Button at={button} class="main" words={props.done} onPress={done} />
      {isAsked && (
        <Question {...text.leaving} asking={asking} cancel={cancel} onConfirmed={leave} />
      )}
    </section>
  );
}
