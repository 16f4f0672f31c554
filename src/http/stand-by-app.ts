import type { Context, Hono } from 'hono';
import type { Passing, StandBy } from '../fleet/stand-by.ts';
import type { Metrics } from '../lib/metrics.ts';
import { ApiError, isApiError } from '../model/errors.ts';
import { isReadAsItComes, rejectMethod } from './allowed-methods.ts';
import type { AppEnv } from './env.ts';
import { callersShare } from './limits/callers-share.ts';
import { sourceOf } from './limits/source-address.ts';
import { credentialsOf } from './middleware/authenticate.ts';
import { IDEMPOTENCY_KEY } from './middleware/idempotency.ts';
import { boundedBody, boundsOf } from './middleware/read-body.ts';
import { answerMetrics } from './request-metrics.ts';
import type { Route } from './route.ts';
import { type Answer, openSite, type SiteOptions } from './site.ts';

/** The most bodies in transfer under one Authorization header, or without one from one source address. */
const MOST_BODIES = 1024;
/** Shorter than those wait who start a sidecar again by its health: one that stands still must not end the others. */
const HEALTH_MS = 2000;

interface StandByAppOptions extends SiteOptions {
  readonly standBy: StandBy;
  readonly metrics: Metrics;
  readonly trustedProxies: ReadonlySet<string>;
  readonly requireAuth: boolean;
  readonly commit: string;
}

/**
 * Builds the HTTP application of a sidecar that stands by. It checks Host, Origin and sizes by its own rules, and
 * passes everything on but its own metrics and whether it leads (docs/decisions.md 139 and 208).
 */
export function createStandByApp(options: StandByAppOptions): Hono<AppEnv> {
  const { standBy, metrics, trustedProxies, requireAuth, commit } = options;
  const bodies = callersShare(MOST_BODIES, 'requests whose bodies are not complete');

  const answerOf = (route: Route): Answer => {
    if (route.path === '/metrics') return () => answerMetrics(metrics);
    if (route.path === '/v2/leader') {
      return async () => {
        throw new ApiError('overCapacity', 'This sidecar stands by: ask the others.');
      };
    }
    const isHealth = route.path === '/v2/health';
    const isPublic = route.access === 'public';
    return async (context) => {
      const { raw } = context.req;
      const { headers, method } = raw;
      if (isReadAsItComes(route) && method !== 'GET') rejectMethod(context, ['GET']);
      // The sidecar that leads may be open to callers without credentials, and this one is not.
      if (requireAuth && !isPublic && !headers.has('console-key')) {
        credentialsOf(headers.get('authorization'), {
          requireAuth,
          cookie: null,
          hasDefaultWallet: true,
        });
      }
      const facts = {
        host: headers.get('host') ?? '',
        source: sourceOf(context, trustedProxies),
      };
      route.requireHead?.(headers);
      const body = hasBody(method) ? await bodyOf(context, route, facts.source) : null;
      const env = context.env ?? {};
      const passed = { request: raw, body, facts, env, ...repeatRules(route, raw) };
      return isHealth ? healthOf(passed) : standBy.pass({ ...passed, withinMs: null });
    };
  };

  /** Health waits for nothing longer than {@link HEALTH_MS}, and says what is wrong in its text. */
  async function healthOf(passed: Omit<Passing, 'withinMs'>): Promise<Response> {
    try {
      return await standBy.pass({ ...passed, withinMs: HEALTH_MS });
    } catch (error) {
      if (!isApiError(error)) throw error;
      const status = `This sidecar stands by. ${error.message}`;
      return Response.json({ status, commit });
    }
  }

  async function bodyOf(
    context: Context<AppEnv>,
    route: Route,
    source: string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const authorization = context.req.header('authorization');
    const isRead = bodies.take(authorization ? `header ${authorization}` : `source ${source}`);
    try {
      return new Uint8Array(await boundedBody(context, boundsOf(route)));
    } finally {
      isRead();
    }
  }
  return openSite(options, { answerOf, answeredOf: () => () => undefined });
}

function hasBody(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/**
 * Says how a request of a route may be repeated: reads and PUTs, and a POST with an Idempotency-Key, as the typed
 * client repeats them (docs/decisions.md 106).
 */
export function repeatRules(
  { takesKey, repeatsWith, movesMoney }: Route,
  { method, headers, url }: Request,
): Pick<Passing, 'mayRepeat' | 'movesMoney'> {
  const isKeyed = takesKey === true && IDEMPOTENCY_KEY.test(headers.get('idempotency-key') ?? '');
  const isWhole = repeatsWith === undefined || new URL(url).searchParams.has(repeatsWith);
  return {
    movesMoney: movesMoney === true,
    mayRepeat: method === 'POST' ? isKeyed : isWhole,
  };
}
