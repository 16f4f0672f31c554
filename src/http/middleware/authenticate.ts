import { ApiError } from '../../model/errors.ts';
import { allows, requirePermission, type Session } from '../../wallet/session.ts';
import type { RouteAccess } from '../route.ts';

interface AuthenticateOptions {
  /** A promise only where the session is not open yet: most requests need not wait for it. */
  readonly open: (credentials: string | null) => Session | Promise<Session>;
  /** Whether default credentials must not be used: every request brings its own (decisions section 8). */
  readonly requireAuth: boolean;
}

/** Opens the session that an Authorization header, or without one the default credentials, name for a route. */
export type Authenticate = (authorization: string | null) => Session | undefined | Promise<Session>;

/** What a route's access asks of a request's credentials; a route for everybody needs no session. */
export function authenticate(access: RouteAccess, options: AuthenticateOptions): Authenticate {
  if (access === 'root_seed') {
    return (authorization) => {
      requireEmptyAuthorization(authorization);
      return undefined;
    };
  }
  if (access === 'public' && !options.requireAuth) return () => undefined;
  const withAccess = (session: Session): Session => {
    requireAccess(session, access);
    return session;
  };
  return (authorization) => {
    const opened = options.open(bearer(authorization, options.requireAuth));
    return opened instanceof Promise ? opened.then(withAccess) : withAccess(opened);
  };
}

function bearer(header: string | null, required: boolean): string | null {
  if (header === null || header === '') {
    if (!required) return null;
    throw new ApiError(
      'unauthenticated',
      'This sidecar requires the header "Authorization: Bearer <CLIENT_CREDENTIALS>" on every request.',
    );
  }
  const match = /^bearer +(\S+)$/i.exec(header);
  if (match?.[1] !== undefined) return match[1];
  throw new ApiError(
    'unauthenticated',
    'The Authorization header must read "Bearer <CLIENT_CREDENTIALS>".',
  );
}

function requireEmptyAuthorization(header: string | null): void {
  if (header === null || header === '') return;
  throw new ApiError(
    'unauthenticated',
    'This needs the root seed of the sidecar and no Authorization header: leave the header out.',
  );
}

function requireAccess(session: Session, access: RouteAccess): void {
  if (access === 'authenticated' || access === 'public' || access === 'root_seed') return;
  const permissions = typeof access === 'string' ? [access] : access;
  const [first] = permissions;
  if (first && !permissions.some((permission) => allows(session, permission))) {
    requirePermission(session, first);
  }
}
