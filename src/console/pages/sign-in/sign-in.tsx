import { useEffect, useState } from 'preact/hooks';
import { sessionKey } from '../../api/session-key.ts';
import { signIn } from '../../api/sidecar.ts';
import { inPlace } from '../../parts/form.tsx';
import { Notice, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';

interface SignInProps {
  /** The token of a one-time link that the person wants to use; null for none. */
  readonly link: string | null;
  readonly hasEnded: boolean;
  readonly onSignedIn: (key: string) => void;
}

/** The page before the sign-in. A one-time link signs in at once; otherwise credentials are pasted. */
export function SignIn({ link, hasEnded, onSignedIn }: SignInProps) {
  const [credentials, setCredentials] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  // While a link signs it in anew, nobody is told to get one.
  const isDevice = sessionKey.isOfDevice() && (link === null || error !== null);
  const enter = (given: Parameters<typeof signIn>[0]) => {
    setBusy(true);
    setError(null);
    signIn(given).then(onSignedIn, (failed: Error) => {
      setError(failed);
      setBusy(false);
    });
  };
  useEffect(() => {
    document.title = text.signIn.title;
  }, []);
  useEffect(() => {
    if (link !== null) enter({ link });
  }, [link]);
  return (
    <main class="alone">
      <h1>{text.signIn.title}</h1>
      {hasEnded && !isDevice && error === null && <Notice kind="warn" title={text.signIn.ended} />}
      <Problem error={error} title={text.signIn.failed} />
      {isDevice ? (
        <Notice kind="warn" {...text.signIn.deviceEnded} />
      ) : (
        <>
          <p>{text.signIn.byLink}</p>
          <pre>
            <code>{text.signIn.command}</code>
          </pre>
        </>
      )}
      <form onSubmit={inPlace(() => enter({ credentials }))}>
        <h2>{text.signIn.or}</h2>
        <label>
          <span>{text.signIn.credentials}</span>
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            value={credentials}
            onInput={({ currentTarget }) => setCredentials(currentTarget.value)}
          />
        </label>
        <button type="submit" class="main" disabled={isBusy}>
          {isBusy ? text.signIn.signingIn : text.signIn.submit}
        </button>
      </form>
    </main>
  );
}
