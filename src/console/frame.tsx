import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ClientInfoResponse } from '../client/index.ts';
import { isAskedFirst } from './api/leaving.ts';
import { followPayments, type OpenLive } from './api/live.ts';
import { openSidecar, type Sidecar } from './api/sidecar.ts';
import { type SignedIn, SignedInProvider } from './api/signed-in.tsx';
import type { About } from './api/types.ts';
import { useKeptValue } from './api/use-kept-value.ts';
import { usePlace } from './api/use-place.ts';
import { WalletNameProvider } from './api/wallet-name.ts';
import { pagesFor } from './pages/pages.ts';
import { Till } from './pages/till.tsx';
import { Button, SignOut } from './parts/buttons.tsx';
import { Notice, Problem } from './parts/notices.tsx';
import { Replaced } from './parts/replaced.tsx';
import { text } from './texts/index.ts';
import { linkTo } from './values/place.ts';

interface FrameProps {
  readonly sessionKey: string;
  /** Called when the session has ended; true when the person signed out. */
  readonly onEnd: (byPerson: boolean) => void;
}

/** Shows what stands around every page: links to the pages, who is signed in, and whether the sidecar answers. */
export function Frame({ sessionKey, onEnd }: FrameProps) {
  const [isReached, setReached] = useState(true);
  const { sidecar, live } = useOpen(sessionKey, setReached, () => onEnd(false));
  const { known, error, again } = useKnown(sidecar, isReached);
  usePing(sidecar, isReached);
  // What was asked while the sidecar was away is asked again.
  useEffect(() => {
    if (isReached) live.opened();
  }, [live, isReached]);
  if (known === null) {
    // The page's HTML begins with the same, so that nothing moves when the script takes over.
    return (
      <div class="frame">
        <header class="side">
          <p class="brand">{text.name}</p>
        </header>
        <main id="content">
          {error === null && <p role="status">{text.loading}</p>}
          <Problem error={error} title={text.notLoaded} onAgain={again} />
        </main>
      </div>
    );
  }
  const signOut = () => {
    // Without an answer the session ends by itself after a while.
    const out = () => onEnd(true);
    sidecar.signOut().then(out, out);
  };
  return (
    <SignedInProvider value={{ sidecar, live, ...known }}>
      {known.client.own ? (
        <Till isReached={isReached} onSignOut={signOut} />
      ) : (
        <Pages known={known} isReached={isReached} onSignOut={signOut} />
      )}
    </SignedInProvider>
  );
}

type Known = Pick<SignedIn, 'about' | 'client'>;

interface PagesProps {
  readonly known: Known;
  readonly isReached: boolean;
  readonly onSignOut: () => void;
}

function Pages({ known, isReached, onSignOut }: PagesProps) {
  const place = usePlace();
  const pages = pagesFor(known);
  const page = pages.find(({ name }) => name === place.page) ?? pages[0];
  const title = page?.title ?? text.name;
  const shown = `${page?.name} ${place.rest}`;
  /** The page over which the other pages of a phone's bar were opened: going to another one closes them. */
  const [openOver, setOpenOver] = useState('');
  const isOpen = openOver === shown;
  // The way to tell two wallets from each other, also by the tabs of the browser.
  const kept = useKeptValue<string>('name', localStorage);
  const name = kept.value ?? text.name;
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
  return (
    <div class="frame">
      <Button class="skip" words={text.skip} onPress={focusContent} />
      <header class="side">
        <p class="brand">{name}</p>
        <nav aria-label={text.navigation}>
          <ul class={isOpen ? 'open' : ''}>
            {pages.map((one, position) => (
              <li key={one.name} class={position < IN_BAR ? '' : 'rest'}>
                <a href={linkTo(one.name)} aria-current={one === page ? 'page' : undefined}>
                  {one.title}
                </a>
              </li>
            ))}
            {pages.length > IN_BAR && (
              <li class="more">
                <button
                  type="button"
                  aria-expanded={isOpen}
                  onClick={() => setOpenOver(isOpen ? '' : shown)}
                >
                  {text.morePages}
                </button>
              </li>
            )}
          </ul>
        </nav>
        <div class="who">
          <p>{whoText(known.client, known.about)}</p>
          <SignOut onSignOut={() => isAskedFirst(onSignOut) || onSignOut()} />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {known.about.sandbox && <p class="banner">{text.sandboxBanner}</p>}
        <div role="status">{!isReached && <Notice kind="warn" {...text.lost} />}</div>
        <Replaced shown={shown}>
          <h1>{title}</h1>
          <WalletNameProvider value={kept}>
            {page && <page.Page rest={place.rest} />}
          </WalletNameProvider>
        </Replaced>
      </main>
    </div>
  );
}

/** How many pages the bar of a phone has beside "More". */
const IN_BAR = 4;

function focusContent(): void {
  document.getElementById('content')?.focus();
}

function whoText(client: ClientInfoResponse, about: About): string {
  if (about.owner) return text.asOwner;
  return client.label === null ? text.asClient : text.asNamed(client.label);
}

function useOpen(
  sessionKey: string,
  onReached: (reached: boolean) => void,
  onEnded: () => void,
): { readonly sidecar: Sidecar; readonly live: OpenLive } {
  const open = useMemo(() => {
    const opened: { live?: OpenLive } = {};
    const onStream = () => opened.live?.opened();
    const sidecar = openSidecar(sessionKey, { onReached, onStream, onEnded });
    const live = followPayments(sidecar.api);
    opened.live = live;
    return { sidecar, live };
  }, [sessionKey]);
  useEffect(() => open.live.close, [open]);
  return open;
}

/** How often to ask for the sidecar while it answers, and while it does not, in milliseconds. */
const PING_MS = { reached: 10_000, away: 2000 };

/** Asks for the sidecar while somebody sees the page, so that its silence and its return are noticed. */
function usePing(sidecar: Sidecar, isReached: boolean): void {
  useEffect(() => {
    const ping = () => document.hidden || sidecar.ping();
    const timer = setInterval(ping, isReached ? PING_MS.reached : PING_MS.away);
    return () => clearInterval(timer);
  }, [sidecar, isReached]);
}

/** Asks who is signed in and what the sidecar can do, again after the sidecar was away. */
function useKnown(sidecar: Sidecar, isReached: boolean) {
  const [known, setKnown] = useState<Known | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!isReached) return;
    Promise.all([sidecar.about(), sidecar.api.clientInfo()]).then(([about, client]) => {
      setKnown({ about, client });
      setError(null);
    }, setError);
  }, [sidecar, isReached, round]);
  return { known, error, again: () => setRound(round + 1) };
}
