import { useEffect, useState } from 'preact/hooks';
import { sessionKey } from './api/session-key.ts';
import { takenLink } from './api/use-place.ts';
import { Frame } from './frame.tsx';
import { LinkQuestion } from './pages/sign-in/link-question.tsx';
import { SignIn } from './pages/sign-in/sign-in.tsx';

/** The whole console: the sign-in, and behind it the pages. */
export function App() {
  const [key, setKey] = useState(sessionKey.read);
  /** The token of the link that was opened, until it is used or turned down. */
  const [link, setLink] = useState(takenLink);
  /** The link that the person wants to use, and whether it is for a device. */
  const [wanted, setWanted] = useState<{ readonly isDevice: boolean } | null>(null);
  /** Whether a session has ended here, which the sign-in says. */
  const [wasIn, setWasIn] = useState(false);
  useEffect(() => sessionKey.onChange(() => setKey(sessionKey.read())), []);
  useEffect(() => {
    const changed = () => {
      const opened = takenLink();
      if (opened === null) return;
      setWanted(null);
      setLink(opened);
    };
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const end = (byPerson: boolean) => {
    sessionKey.forget(key);
    setWasIn(!byPerson);
    // Another tab may have signed in since.
    setKey(byPerson ? null : sessionKey.read());
  };
  if (link !== null && wanted === null) {
    return (
      <LinkQuestion
        key={`${key} ${link}`}
        link={link}
        sessionKey={key}
        onUse={(isDevice) => {
          setWanted({ isDevice });
          setKey(null);
        }}
        onStay={() => setLink(null)}
      />
    );
  }
  if (key !== null) return <Frame key={key} sessionKey={key} onEnd={end} />;
  return (
    <SignIn
      link={link}
      hasEnded={wasIn}
      onSignedIn={(given) => {
        sessionKey.keep(given, link !== null && wanted?.isDevice === true);
        setLink(null);
        setWanted(null);
        setKey(given);
      }}
    />
  );
}
