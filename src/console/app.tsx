import { useEffect, useState } from 'preact/hooks';
import { sessionKey } from './api/session-key.ts';
import { Frame } from './frame.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { linkToken } from './values/link-token.ts';

/** The whole console: the sign-in, and behind it the pages. */
export function App() {
  // A link signs in anew; otherwise it would stay good, and in the address, for others to find.
  const [key, setKey] = useState(() => (isAtLink() ? null : sessionKey.read()));
  /** Whether a session has ended here, which the sign-in says. */
  const [wasIn, setWasIn] = useState(false);
  useEffect(() => sessionKey.onChange(() => setKey(sessionKey.read())), []);
  useEffect(() => {
    const changed = () => isAtLink() && setKey(null);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const end = (byPerson: boolean) => {
    sessionKey.forget(key);
    setWasIn(!byPerson);
    // Another tab may have signed in since.
    setKey(byPerson ? null : sessionKey.read());
  };
  if (key !== null) return <Frame key={key} sessionKey={key} onEnd={end} />;
  return (
    <SignIn
      hasEnded={wasIn}
      onSignedIn={(given) => {
        sessionKey.keep(given);
        setKey(given);
      }}
    />
  );
}

function isAtLink(): boolean {
  return linkToken(location.hash) !== null;
}
