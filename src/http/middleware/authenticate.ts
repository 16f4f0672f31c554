import type { MiddlewareHandler } from 'hono';
import { ApiError } from '../../model/errors.ts';
import { allows, requirePermission, type Session } from '../../wallet/session.ts';
import type { AppEnv } from '../env.ts';
import type { RouteAccess } from '../route.ts';

interface AuthenticateOptions {
  readonly open: (credentials: string | null) => Promise<Session>;
  /** Whether default credentials must not be used: every request brings its own (decisions section 8). */
  readonly requireAuth: boolean;
}

/** Opens the session that the Authorization header or the default credentials name, and checks the route's access. */
export function authenticate(
  access: RouteAccess,
  options: AuthenticateOptions,
): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const header = context.req.header('authorization');
    if (access === 'root_seed') {
      requireEmptyAuthorization(header);
    } else if (access !== 'public' || options.requireAuth) {
      const session = await options.open(bearer(header, options.requireAuth));
      requireAccess(session, access);
      context.set('session', session);
    }
    return next();
  };
}

function bearer(header: string | undefined, required: boolean): string | null {
  if (header === undefined || header === '') {
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

function requireEmptyAuthorization(header: string | undefined): void {
  if (header === undefined || header === '') return;
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
