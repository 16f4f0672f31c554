import { isSameSecret } from '../../lib/same-secret.ts';
import { ApiError } from '../../model/errors.ts';
import { PERMISSIONS, type Permission } from '../../model/permissions.ts';
import { allows, lacking, requireOwner, type Session } from '../../wallet/session.ts';
import type { RouteAccess } from '../route.ts';

/** How requests prove who sends them. */
export interface AuthenticateOptions {
  /** A promise only where the session is not open yet: most requests need not wait for it. */
  readonly open: (credentials: string | null) => Session | Promise<Session>;
  /** Whether every route that is not public needs the header (decisions section 8). */
  readonly requireAuth: boolean;
  /** The token in the data directory's cookie file, good for the default wallet; null where there is none. */
  readonly cookie: string | null;
}

/** Opens the session that an Authorization header, or without one the default credentials, name for a route. */
export type Authenticate = (authorization: string | null) => Session | undefined | Promise<Session>;

/** What a route asks of a request's credentials; a public one needs no session. */
export function authenticate(access: RouteAccess, options: AuthenticateOptions): Authenticate {
  const { requireAuth } = options;
  if (access === 'public' || (access === 'sandbox' && !requireAuth)) return () => undefined;
  if (access === 'root_seed') {
    return (authorization) => {
      requireRootAccess(authorization, options);
      return undefined;
    };
  }
  const withAccess = (session: Session): Session => {
    if (requireAuth && isSandbox(access)) requireEverything(session);
    requireAccess(session, access);
    return session;
  };
  return (authorization) => {
    const opened = options.open(credentialsOf(authorization, options));
    return opened instanceof Promise ? opened.then(withAccess) : withAccess(opened);
  };
}

/** Throws error 108 unless the session holds what the access asks for. */
export function requireAccess(session: Session, access: RouteAccess): void {
  if (access === 'owner') requireOwner(session);
  const permissions = permissionsIn(access);
  const [first] = permissions;
  if (first && !permissions.some((permission) => allows(session, permission))) {
    throw lacking(first);
  }
}

/** The permissions of which a caller needs one; none where the access names none. */
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

/** The credentials in the header; null means the default wallet. */
function credentialsOf(
  header: string | null,
  { requireAuth, cookie }: AuthenticateOptions,
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
  return isCookie(token, cookie) ? null : token;
}

/** The token of a header `Bearer <token>` (RFC 6750); null for any other. */
function bearerToken(header: string): string | null {
  return /^bearer +(\S+)$/i.exec(header)?.[1] ?? null;
}

/** signup and provision: an empty header, to the contract's letter, and with --require-auth the cookie. */
function requireRootAccess(header: string | null, options: AuthenticateOptions): void {
  const { requireAuth, cookie } = options;
  const isEmpty = header === null || header === '';
  const token = header === null ? null : bearerToken(header);
  if (requireAuth ? token !== null && isCookie(token, cookie) : isEmpty) return;
  throw new ApiError(
    'unauthenticated',
    requireAuth
      ? 'This needs the root seed of the sidecar, and the token of the file "cookie" in its data directory: send it as "Authorization: Bearer <token>".'
      : 'This needs the root seed of the sidecar and no Authorization header: leave the header out.',
  );
}

/** Who controls the sandbox controls everything in it, its clock and so the budgets included. */
function requireEverything(session: Session): void {
  if (session.isOwner) return;
  const missing = PERMISSIONS.find((permission) => !allows(session, permission));
  if (missing) throw lacking(missing);
  if (session.hasBudget()) requireOwner(session);
}

function isCookie(token: string, cookie: string | null): boolean {
  return cookie !== null && /^[0-9a-f]{64}$/.test(token) && isSameSecret(token, cookie);
}
