import { useEffect, useState } from 'preact/hooks';
import { sessionKey } from './api/session-key.ts';
import { Frame } from './frame.tsx';
import { SignIn } from './pages/sign-in.tsx';

/** The whole console: the sign-in, and behind it the pages. */
export function App() {
  const [key, setKey] = useState(sessionKey.read);
  /** Whether a session has ended here, which the sign-in says. */
  const [wasIn, setWasIn] = useState(false);
  useEffect(() => sessionKey.onChange(() => setKey(sessionKey.read())), []);
  const end = (byPerson: boolean) => {
    sessionKey.forget();
    setWasIn(!byPerson);
    setKey(null);
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
