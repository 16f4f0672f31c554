import type { Context, Hono } from 'hono';
import { elapsedMs } from '../lib/clock.ts';
import type { Session } from '../wallet/session/session.ts';
import type { AppEnv } from './env.ts';
import { IGNORED_FIELDS_HEADER, ignoredFieldsHeader } from './input/ignored-fields.ts';
import { callersShare } from './limits/callers-share.ts';
import { sourceOf } from './limits/source-address.ts';
import { authenticate, type Caller, type KnownCredentials } from './middleware/authenticate.ts';
import { getAlone } from './middleware/get-alone.ts';
import { IdempotentRequests, usableKey } from './middleware/idempotency.ts';
import { bodyReader } from './middleware/read-body.ts';
import { queryReader } from './middleware/read-query.ts';
import type { Parts } from './parts.ts';
import { requestMeters } from './request-metrics.ts';
import type { Route } from './route.ts';
import { runRoute } from './run-route.ts';
import { type Answer, openSite, type SiteOptions } from './site.ts';

/**
 * How many request bodies one caller may be sending at the same time, so that slow uploads cannot occupy every
 * connection (docs/decisions.md 75). Callers without credentials count by source address. The wallet's owner is not
 * limited.
 */
const MOST_BODIES = 64;

/** Gives the place of a caller back who took none. */
const NO_PLACE = () => undefined;

interface AppOptions extends Omit<SiteOptions, 'log'>, KnownCredentials {
  readonly parts: Parts;
  /** The proxies whose X-Forwarded-For counts. */
  readonly trustedProxies: ReadonlySet<string>;
  /** How many waits and streams one client may have open at the same time. The wallet's owner is not limited. */
  readonly mostWaits: number;
}

/**
 * Builds the HTTP application from the list of routes. Every request passes the same layers in the same order: the
 * guards, the credentials, the query, the body, and the route's handler.
 */
export function createApp(options: AppOptions): Hono<AppEnv> {
  const { parts } = options;
  const runner = {
    parts,
    stopping: options.stopping,
    idempotent: new IdempotentRequests(parts.store.idempotency, parts.log),
    waits: callersShare(options.mostWaits, 'waits and streams open'),
    trustedProxies: options.trustedProxies,
    answer: async (request: Request, env: AppEnv['Bindings']) => app.fetch(request, env),
  };
  const meters = requestMeters(parts.metrics, elapsedMs);
  const bodies = callersShare(MOST_BODIES, 'requests whose bodies are not complete');

  const answerOf = (route: Route): Answer => {
    const authorize = authenticate(route.access, {
      open: (credentials) => parts.wallets.open(credentials),
      requireAuth: options.requireAuth,
      cookie: options.cookie,
      hasDefaultWallet: options.hasDefaultWallet,
      console: parts.console,
    });
    const readQuery = queryReader(route);
    const readBody = route.hasBody ? bodyReader(route) : null;
    const placeOf = (context: Context<AppEnv>, { session, isOwner }: Caller) => {
      if (isOwner) return NO_PLACE;
      // Strangers at the sandbox's controls do not take the places of those who sign in to the console.
      const name = `${String(route.access)} ${sourceOf(context, options.trustedProxies)}`;
      return bodies.take(session?.caller.id ?? name);
    };
    const run = getAlone(route, runRoute(route, runner));
    return async (context) => {
      // Ignored parameters are named on every answer, also where the credentials are rejected.
      const parseQuery = readQuery(context);
      let known: Session | null = null;
      const understood = async () => {
        const opened = (session: Session) => {
          known = session;
        };
        const caller = await authorize(context.req.raw.headers, opened, context.env?.speaker);
        if (caller.consoleEnded) context.set('consoleEnded', caller.consoleEnded);
        const query = parseQuery();
        route.requireHead?.(context.req.raw.headers);
        const body = readBody ? await readBody(context, () => placeOf(context, caller)) : undefined;
        // What the caller may do may have ended while the body was on its way.
        if (readBody) caller.requireStill();
        return { session: caller.session, input: { body, query } };
      };
      const { session, input } = await understood().catch(async (error) => {
        if (known !== null) await lookAtKey(route, context, known);
        throw error;
      });
      return run(context, session, input);
    };
  };
  /** An error before the handler says that nothing was sent where the caller's key was not used before. */
  const lookAtKey = async (route: Route, context: Context<AppEnv>, session: Session) => {
    const key = context.get('sentBefore') && usableKey(route, context.req.raw.headers);
    if (!key) return;
    const scope = { walletId: session.userPk, caller: session.caller.id, key };
    // What cannot be read stays unknown, and the keys of a revoked client are deleted.
    const isUsed = await runner.idempotent.isUsed(scope).catch(() => true);
    if (!isUsed && !session.ended.aborted) context.set('sentBefore', 'no');
  };
  const answeredOf = (route: Route | null) => {
    const meter = route ? meters.of(route) : meters.unmatched;
    return (context: Context<AppEnv>, response: Response, startedMs: number) => {
      nameIgnored(context, response);
      meter.answered(response.status, startedMs);
    };
  };
  const app = openSite({ ...options, log: parts.log }, { answerOf, answeredOf });
  return app;
}

function nameIgnored(context: Context<AppEnv>, response: Response): void {
  const ignored = context.get('ignored');
  if (ignored === undefined) return;
  const header = ignoredFieldsHeader(ignored);
  if (header !== '') response.headers.set(IGNORED_FIELDS_HEADER, header);
}
