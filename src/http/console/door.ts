import { hex } from '@scure/base';
import { PERMISSIONS } from '../../model/clients/permissions.ts';
import { ApiError, rejected } from '../../model/errors.ts';
import { isOfDevice } from '../../wallet/open/wallets.ts';
import { allows, type Grants, type Session } from '../../wallet/session/session.ts';
import { DEVICE_MS, type DevicesOptions, openDevices } from './devices.ts';
import { type OneTimeLinks, oneTimeLinks } from './one-time-links.ts';
import {
  cookieName,
  cookieValues,
  requirePageOf,
  sessionCookie,
  signInOrigin,
} from './page-origin.ts';
import {
  type ConsoleSession,
  consoleSessions,
  endedSession,
  IDLE_MS,
  LONGEST_MS,
} from './sessions.ts';

/** The header of every request of the console's page. It holds the session's key, or `none` before the sign-in. */
const CONSOLE_KEY_HEADER = 'console-key';

/** How often a second cookie of the same name is looked at. */
const MOST_COOKIES = 8;

interface DoorOptions extends DevicesOptions {
  /** Opens the wallet session of credentials; null means the default wallet. Throws error 104. */
  readonly open: (credentials: ConsoleSession['credentials']) => Promise<Session>;
  /** Returns the credentials that a value of the Authorization header names. Throws error 104. */
  readonly credentialsOf: (authorization: string | null) => string | null;
  /** Returns monotonic milliseconds. */
  readonly elapsedMs: () => number;
}

/** The way into the console, and of its requests to the API (docs/decisions.md 132 and 133). */
export type ConsoleDoor = ReturnType<typeof openConsoleDoor>;

type CallerOf = Pick<Session, 'userPk' | 'caller'>;

/** What somebody signs in with; exactly one is given. */
interface SignInWith {
  readonly link: string | null;
  readonly credentials: string | null;
}

/** Opens the console's door, with no session and no link. */
export function openConsoleDoor(options: DoorOptions) {
  const links = oneTimeLinks(options);
  const sessions = consoleSessions(options);
  const devices = openDevices(options);

  async function find(headers: Headers, key: string): Promise<ConsoleSession | null> {
    for (const id of idsIn(headers)) {
      const session = sessions.find({ id, key }) ?? (await devices.find({ id, key }));
      if (session === null) continue;
      requirePageOf(session.origin, headers);
      return session;
    }
    return null;
  }

  /**
   * Returns the session of a request that the console's page made; null for every other request, whatever cookies it
   * has. Throws error 104 when the session has ended, and 112 for another page.
   */
  async function sessionOf(headers: Headers): Promise<ConsoleSession | null> {
    const key = headers.get(CONSOLE_KEY_HEADER);
    if (key === null) return null;
    const session = await find(headers, key);
    if (session === null) throw endedSession();
    return session;
  }

  return {
    /** Whether a cookie says that the browser has a session, which may have ended: it decides how the page begins. */
    seemsSignedIn: (headers: Headers): boolean => idsIn(headers).length > 0,
    /** Returns the token of a one-time link for the caller of a request, whose wallet session is given. */
    makeLink(headers: Headers, session: CallerOf): string {
      // Otherwise a session could outlast its time by links that it makes.
      if (headers.has(CONSOLE_KEY_HEADER)) throw notForSessions();
      const credentials = options.credentialsOf(headers.get('authorization'));
      return links.make({ caller: callerOf(session), credentials });
    },
    /** Returns the token of a one-time link that signs a browser in as a client, for as long as a device stays so. */
    makeDeviceLink(clientPk: string): string {
      const secret = hex.encode(options.random(32));
      return links.make({ caller: clientPk, credentials: { clientPk, secret } });
    },
    /** The browsers that stay signed in as clients. */
    devices: { list: devices.list, end: devices.end },
    /**
     * Returns the wallet session that a link opens and whether a device stays signed in by it, and leaves the link as
     * it is, so that the page can say whose wallet it is before the link is used. Throws error 104.
     */
    async lookAtLink(token: string) {
      const credentials = links.look(token);
      return { session: await options.open(credentials), isDevice: isOfDevice(credentials) };
    },
    /**
     * Signs a browser in by a link's token or credentials, ending its session. Returns the half of the session that the
     * page keeps, the Set-Cookie header with the other half, and after how many milliseconds it ends, without a request
     * and in any case. Throws errors 104, 106 and 112.
     */
    async signIn(headers: Headers, given: SignInWith) {
      const origin = signInOrigin(headers);
      const credentials = credentialsIn(given, links, options);
      const session = await options.open(credentials);
      const permissions = permissionsOf(session);
      const caller = callerOf(session);
      // The browser is about to lose the halves of the session that it had.
      await (await find(headers, headers.get(CONSOLE_KEY_HEADER) ?? ''))?.end();
      if (isOfDevice(credentials)) {
        const { clientPk } = credentials;
        const { id, key } = await devices.begin(session.userPk, { clientPk, origin });
        const ends = { idleMs: DEVICE_MS, longestMs: DEVICE_MS };
        return { key, cookie: sessionCookie(origin, id, DEVICE_MS / 1000), ends };
      }
      const { id, key } = sessions.begin({ caller, credentials, origin, permissions });
      const ends = { idleMs: IDLE_MS, longestMs: LONGEST_MS };
      return { key, cookie: sessionCookie(origin, id), ends };
    },
    sessionOf,
    /** Ends the session of a request. Returns the Set-Cookie header that takes the browser's half away. */
    async signOut(headers: Headers): Promise<string> {
      const session = await sessionOf(headers);
      if (session === null) throw endedSession();
      await session.end();
      return sessionCookie(session.origin, null);
    },
  };
}

function callerOf({ userPk, caller }: CallerOf): string {
  return `${userPk} ${caller.id}`;
}

function permissionsOf(session: Grants): (typeof PERMISSIONS)[number][] {
  return PERMISSIONS.filter((permission) => allows(session, permission));
}

function credentialsIn(
  { link, credentials }: SignInWith,
  links: OneTimeLinks,
  { credentialsOf }: DoorOptions,
): ConsoleSession['credentials'] {
  if ((link === null) === (credentials === null)) {
    throw rejected('', 'Give either link or credentials.');
  }
  if (link !== null) return links.take(link);
  const token = credentials?.trim() ?? '';
  if (!/^\S+$/.test(token)) throw rejected('credentials', 'must be one string without spaces');
  return credentialsOf(`Bearer ${token}`);
}

function notForSessions(): ApiError {
  return new ApiError(
    'unauthenticated',
    'A session of the console makes no links: run "wallet-sidecar console".',
  );
}

/** Returns the session ids in the cookies of a request, by the name that its own origin gives them. */
function idsIn(headers: Headers): string[] {
  const host = headers.get('host') ?? '';
  return ['http', 'https']
    .map((scheme) => `${scheme}://${host}`)
    .filter((origin) => URL.canParse(origin))
    .flatMap((origin) => cookieValues(headers, cookieName(origin)))
    .slice(0, MOST_COOKIES);
}
