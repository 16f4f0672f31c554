import { useEffect } from 'preact/hooks';
import { Copy } from './copy.tsx';

interface SecretOnceProps {
  readonly title: string;
  /** What the secret is, for the name of the button that copies it. */
  readonly label: string;
  readonly secret: string;
  readonly words: string;
  /** What the button says that takes it away. */
  readonly done: string;
  /** Must forget the secret. Called when the browser leaves the page. */
  readonly onGone: () => void;
  /** Must forget the secret. Called by the button. */
  readonly onDone: () => void;
}

/** A secret that is shown this once. It is in no storage, and a browser that comes back to the page finds it gone. */
export function SecretOnce(props: SecretOnceProps) {
  const { title, label, secret, words, done, onGone, onDone } = props;
  useEffect(() => {
    addEventListener('pagehide', onGone);
    return () => removeEventListener('pagehide', onGone);
  });
  return (
    <section class="card secret" aria-label={title}>
      <div role="status">
        <h2>{title}</h2>
        <p>{words}</p>
      </div>
      <Copy value={secret} label={label} />
      <button type="button" class="main" onClick={onDone}>
        {done}
      </button>
    </section>
  );
}
