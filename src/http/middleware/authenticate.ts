import { isSameSecret } from '../../lib/secrets/same-secret.ts';
import { PERMISSIONS, type Permission } from '../../model/clients/permissions.ts';
import { ApiError, isApiError } from '../../model/errors.ts';
import type { ClientOfDevice } from '../../wallet/open/wallets.ts';
import { seesOnlyOwn } from '../../wallet/session/own-payments.ts';
import { allows, lacking, requireOwner, type Session } from '../../wallet/session/session.ts';
import type { ConsoleDoor } from '../console/door.ts';
import { type ConsoleSession, endedSession } from '../console/sessions.ts';
import type { Route, RouteAccess } from '../route.ts';

/** Which credentials count without looking them up. */
export interface KnownCredentials {
  /** Whether every route that is not public needs the header (docs/decisions.md 72). */
  readonly requireAuth: boolean;
  /** The token in the cookie file, which is valid for the default wallet; null when there is no such file. */
  readonly cookie: string | null;
  /** Whether there is a default wallet, for which the cookie is good. */
  readonly hasDefaultWallet: boolean;
}

interface AuthenticateOptions extends KnownCredentials {
  /** Opens the session of the credentials; null means the default wallet. */
  readonly open: (credentials: ConsoleSession['credentials']) => Promise<Session>;
  /** Finds the session of a request that the console's page made (docs/decisions.md 133). */
  readonly console: Pick<ConsoleDoor, 'sessionOf'>;
}

/** Who calls. */
export interface Caller {
  /** Undefined for a route that needs no session. */
  readonly session: Session | undefined;
  readonly isOwner: boolean;
  /** Aborts when the caller's session of the console ends; null for every other caller. */
  readonly consoleEnded: AbortSignal | null;
  /** Throws error 104 or 108 once the caller may not use the route any more. */
  readonly requireStill: () => void;
}

/**
 * Returns who calls: `speaker` where there is one, otherwise by the headers of the request. Throws error 104, 108 or
 * 112. `opened` is called with the session as soon as it is known, before it is checked whether it may use the route.
 */
type Authenticate = (
  headers: Headers,
  opened?: (session: Session) => void,
  speaker?: ClientOfDevice,
) => Promise<Caller>;

const NOBODY: Caller = {
  session: undefined,
  isOwner: false,
  consoleEnded: null,
  requireStill: () => undefined,
};

/** The owner at a route that opens no session. */
const OWNER: Caller = { ...NOBODY, isOwner: true };

/** Returns the function that checks whether a request may use a route with this access. */
export function authenticate(access: RouteAccess, options: AuthenticateOptions): Authenticate {
  if (access === 'public') return async () => NOBODY;
  const byHeader = authenticateByHeader(access, options);
  const requireAccess = isSandbox(access) ? requireEverything : accessCheck(access);
  return async (headers, opened, speaker) => {
    if (speaker) {
      const session = await options.open(speaker);
      opened?.(session);
      return callerWith(session, requireAccess, null);
    }
    const signedIn = await options.console.sessionOf(headers);
    if (signedIn === null) return byHeader(headers.get('authorization'), opened);
    if (access === 'root_seed') throw notFromConsole();
    const session = await openSignedIn(signedIn, options.open);
    opened?.(session);
    return callerWith(session, requireAccess, signedIn.ended);
  };
}

function authenticateByHeader(
  access: RouteAccess,
  options: AuthenticateOptions,
): (authorization: string | null, opened?: (session: Session) => void) => Promise<Caller> {
  const { requireAuth } = options;
  if (access === 'sandbox' && !requireAuth) return async () => NOBODY;
  if (access === 'root_seed') {
    return async (authorization) => {
      requireRootAccess(authorization, options);
      return OWNER;
    };
  }
  const requireAccess = requireAuth && isSandbox(access) ? requireEverything : accessCheck(access);
  return async (authorization, opened) => {
    const session = await options.open(credentialsOf(authorization, options));
    opened?.(session);
    return callerWith(session, requireAccess, null);
  };
}

/** Returns the caller behind an open session. Throws error 108 unless it may use the route. */
function callerWith(
  session: Session,
  requireAccess: (session: Session) => void,
  consoleEnded: AbortSignal | null,
): Caller {
  requireAccess(session);
  return {
    session,
    isOwner: session.isOwner,
    consoleEnded,
    requireStill() {
      consoleEnded?.throwIfAborted();
      session.ended.throwIfAborted();
      requireAccess(session);
    },
  };
}

/**
 * Opens the wallet session behind a session of the console, which ends when its credentials have ended or may do less
 * than at the sign-in (docs/decisions.md 133).
 */
async function openSignedIn(
  signedIn: ConsoleSession,
  open: AuthenticateOptions['open'],
): Promise<Session> {
  const session = await open(signedIn.credentials).catch(async (error: unknown) => {
    if (isApiError(error, 'unauthenticated')) await signedIn.end();
    throw error;
  });
  if (signedIn.permissions.every((permission) => allows(session, permission))) return session;
  await signedIn.end();
  throw endedSession();
}

/** Returns the function that throws error 108 unless a session holds now what `access` requires. */
export function accessCheck(access: RouteAccess): (session: Session) => void {
  if (access === 'owner') return requireOwner;
  const [first] = permissionsIn(access);
  return (session) => {
    if (first && !holds(access, session)) throw lacking(session, first);
  };
}

/** Whether a session may use a route now. */
export function mayUse({ access, ofWallet }: Route, session: Session): boolean {
  return holds(access, session) && !(ofWallet && seesOnlyOwn(session));
}

function holds(access: RouteAccess, session: Session): boolean {
  if (access === 'owner') return session.isOwner;
  const permissions = permissionsIn(access);
  return permissions.length === 0 || permissions.some((permission) => allows(session, permission));
}

/** Returns the permissions of which a caller needs at least one; an empty list when the access names no permission. */
function permissionsIn(access: RouteAccess): readonly Permission[] {
  if (typeof access !== 'string') return access;
  return isPermission(access) ? [access] : [];
}

function isPermission(access: string): access is Permission {
  return (PERMISSIONS as readonly string[]).includes(access);
}

function isSandbox(access: RouteAccess): boolean {
  return access === 'sandbox' || access === 'sandbox_wallet';
}

/** Returns the credentials in the header; null means the default wallet. Throws error 104. */
export function credentialsOf(
  header: string | null,
  { requireAuth, cookie, hasDefaultWallet }: KnownCredentials,
): string | null {
  if (header === null || header === '') {
    if (!requireAuth) return null;
    throw new ApiError(
      'unauthenticated',
      'This sidecar requires the header "Authorization: Bearer <CLIENT_CREDENTIALS>" on every request.',
    );
  }
  const token = bearerToken(header);
  if (token === null) {
    throw new ApiError(
      'unauthenticated',
      'The Authorization header must read "Bearer <CLIENT_CREDENTIALS>".',
    );
  }
  if (!isCookie(token, cookie)) return token;
  if (hasDefaultWallet) return null;
  throw new ApiError(
    'unauthenticated',
    'The token of the cookie file is good for the default wallet, and this sidecar has none: start it with --root-seed-path or --client-credentials-path, or send client credentials.',
  );
}

/** Returns the token of a header `Bearer <token>` (RFC 6750); null for any other header. */
function bearerToken(header: string): string | null {
  return /^bearer +(\S+)$/i.exec(header)?.[1] ?? null;
}

/** Checks that `signup` or `provision` carries the cookie, or no header where --require-auth is off. */
function requireRootAccess(header: string | null, options: AuthenticateOptions): void {
  const { requireAuth, cookie } = options;
  const isEmpty = header === null || header === '';
  const token = header === null ? null : bearerToken(header);
  if (token !== null && isCookie(token, cookie)) return;
  if (isEmpty && !requireAuth) return;
  throw new ApiError(
    'unauthenticated',
    requireAuth
      ? 'This needs the root seed of the sidecar, and the token of the file "cookie" in its data directory: send it as "Authorization: Bearer <token>".'
      : 'This needs the root seed of the sidecar and no Authorization header: leave the header out.',
  );
}

/** Requires the owner, or every permission without a budget: such controls affect all wallets of the sandbox. */
function requireEverything(session: Session): void {
  if (session.isOwner) return;
  const missing = PERMISSIONS.find((permission) => !allows(session, permission));
  if (missing) throw lacking(session, missing);
  if (session.hasBudget()) requireOwner(session);
}

function notFromConsole(): ApiError {
  return new ApiError(
    'unauthenticated',
    'The console cannot do this: run "wallet-sidecar signup" or "wallet-sidecar provision".',
  );
}

function isCookie(token: string, cookie: string | null): boolean {
  if (cookie === null || !/^[0-9a-f]{64}$/i.test(token)) return false;
  return isSameSecret(token.toLowerCase(), cookie);
}
