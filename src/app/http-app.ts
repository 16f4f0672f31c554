import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import type { Config } from '../config/config.ts';
import { createApp } from '../http/app.ts';
import { descriptorLimit } from '../http/limits/descriptors.ts';
import type { Parts } from '../http/parts.ts';
import type { Route } from '../http/route.ts';
import { consoleRoutes } from '../http/routes/console.ts';
import { docsRoutes } from '../http/routes/docs.ts';
import { NAME_ROUTES, ROUTES, SANDBOX_ROUTES } from '../http/routes/index.ts';
import { metricsRoutes } from '../http/routes/metrics.ts';
import { urlHost } from '../lib/url-host.ts';
import { CONSOLE_FILES } from './console-files.ts';

interface HttpAppOptions {
  /** The port that is listened on. */
  readonly port: number;
  /** The token in the cookie file; null where there is none. */
  readonly cookieToken: string | null;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

/** Opens the HTTP application with the routes and limits that the configuration asks for. */
export function openHttpApp(
  config: Config,
  parts: Parts,
  { port, cookieToken, stopping }: HttpAppOptions,
): ReturnType<typeof createApp> {
  return createApp({
    parts,
    routes: servedRoutes(config, parts),
    allowedHosts: allowedHosts(config, port, parts.sidecarUrl),
    domainHosts: domainHosts(config),
    trustedProxies: new Set(config.trustedProxies),
    requireAuth: config.requireAuth,
    cookie: cookieToken,
    mostWaits: mostWaits(),
    stopping,
    startId: hex.encode(randomBytes(3)),
  });
}

function servedRoutes(config: Config, { sandbox, names }: Pick<Parts, 'sandbox' | 'names'>) {
  const named = names ? NAME_ROUTES : [];
  const served: Route[] = [
    ...ROUTES,
    ...(sandbox ? SANDBOX_ROUTES : named),
    ...consoleRoutes(CONSOLE_FILES),
    ...(config.metrics ? metricsRoutes : []),
  ];
  return [...served, ...docsRoutes(served)];
}

/**
 * Returns an eighth of the file descriptors of this process, so that one client cannot occupy all connections
 * (docs/decisions.md 75).
 */
function mostWaits(): number {
  const share = Math.floor((descriptorLimit() ?? 8192) / 8);
  return Math.min(Math.max(share, 16), 4096);
}

/**
 * Returns the Host headers that every route answers. The address domain is not one of them because --sidecar-url names
 * it, since payers reach it: only --allow-host opens the whole API there (docs/decisions.md 100).
 */
function allowedHosts(config: Config, port: number, sidecarUrl: string): Set<string> {
  const { host } = config.listen;
  const names = ['localhost', '127.0.0.1', '[::1]', urlHost(host)];
  const own = names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
  const further = config.allowHosts.flatMap((name) => [name, `${name}:${port}`]);
  const reached = new URL(sidecarUrl).host;
  return new Set([...own, ...further, ...(reached === config.addressDomain ? [] : [reached])]);
}

/** Returns the Host headers of payers: the address domain, and the host that --sidecar-url gives the callbacks. */
function domainHosts({ addressDomain, sidecarUrl }: Config): Set<string> {
  if (addressDomain === null) return new Set();
  return new Set([addressDomain, ...(sidecarUrl === null ? [] : [new URL(sidecarUrl).host])]);
}
