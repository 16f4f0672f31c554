import { hex } from '@scure/base';
import type { Config } from '../config/config.ts';
import { hasDefaultWallet } from '../config/exposure.ts';
import type { StandBy } from '../fleet/stand-by.ts';
import { createApp } from '../http/app.ts';
import type { ConsoleFile } from '../http/console/files.ts';
import type { Parts } from '../http/parts.ts';
import type { Route } from '../http/route.ts';
import { consoleRoutes } from '../http/routes/console.ts';
import { docsRoutes } from '../http/routes/docs.ts';
import { NAME_ROUTES, ROUTES, SANDBOX_ROUTES } from '../http/routes/index.ts';
import { metricsRoutes } from '../http/routes/metrics.ts';
import { createStandByApp } from '../http/stand-by-app.ts';
import { descriptorLimit } from '../lib/files/descriptors.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { urlHost } from '../lib/network/url-host.ts';
import { random } from '../lib/random.ts';
import { mcpRoutes } from '../mcp/routes.ts';
import { COMMIT } from '../version.ts';

declare const WALLET_SIDECAR_CONSOLE: string | undefined;

/** The files of the console, which the build puts into the binary; none when the program runs from source. */
const CONSOLE_FILES: readonly ConsoleFile[] =
  typeof WALLET_SIDECAR_CONSOLE === 'string'
    ? (JSON.parse(WALLET_SIDECAR_CONSOLE) as readonly ConsoleFile[])
    : [];

interface HttpAppOptions {
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
    ...siteOf(config, { port, stopping, log: parts.log, sidecarUrl: parts.sidecarUrl }),
    routes: servedRoutes(config, {
      hasSandbox: parts.sandbox !== null,
      hasNames: parts.names !== null,
    }),
    cookie: cookieToken,
    hasDefaultWallet: hasDefaultWallet(config),
    mostWaits: mostWaits(),
  });
}

/** Opens the HTTP application of a sidecar that stands by, with the routes and guards of the same configuration. */
export function openStandByApp(
  config: Config,
  options: {
    readonly standBy: StandBy;
    readonly metrics: Metrics;
    readonly log: Log;
    readonly baseUrl: string;
    readonly port: number;
    readonly stopping: AbortSignal;
  },
): ReturnType<typeof createStandByApp> {
  const sidecarUrl = config.sidecarUrl ?? options.baseUrl;
  return createStandByApp({
    ...siteOf(config, { ...options, sidecarUrl }),
    routes: servedRoutes(config, { hasSandbox: false, hasNames: config.addressDomain !== null }),
    standBy: options.standBy,
    metrics: options.metrics,
    commit: COMMIT,
  });
}

function siteOf(
  config: Config,
  given: {
    readonly port: number;
    readonly sidecarUrl: string;
    readonly log: Log;
    readonly stopping: AbortSignal;
  },
) {
  const { port, sidecarUrl, log, stopping } = given;
  return {
    allowedHosts: allowedHosts(config, port, sidecarUrl),
    domainHosts: domainHosts(config),
    trustedProxies: new Set(config.trustedProxies),
    requireAuth: config.requireAuth,
    log,
    stopping,
    startId: hex.encode(random(3)),
  };
}

function servedRoutes(
  config: Config,
  { hasSandbox, hasNames }: { readonly hasSandbox: boolean; readonly hasNames: boolean },
): readonly Route[] {
  const named = hasNames ? NAME_ROUTES : [];
  const served: Route[] = [
    ...ROUTES,
    ...(hasSandbox ? SANDBOX_ROUTES : named),
    ...consoleRoutes(CONSOLE_FILES),
    ...(config.metrics ? metricsRoutes : []),
  ];
  const agents = mcpRoutes(served, { allowUnlimited: config.mcpAllowUnlimited });
  return [...served, ...agents, ...docsRoutes([...served, ...agents])];
}

/** An eighth of the descriptors, so that no client occupies all connections (docs/decisions.md 75). */
function mostWaits(): number {
  const share = Math.floor((descriptorLimit() ?? 8192) / 8);
  return Math.min(Math.max(share, 16), 4096);
}

/**
 * Returns the Host headers that every route answers. The address domain is not one of them because --sidecar-url names
 * it, since payers reach it: only --allow-host opens the whole API there (docs/decisions.md 100).
 */
function allowedHosts(config: Config, port: number, sidecarUrl: string): Set<string> {
  const reached = new URL(sidecarUrl).host;
  const own = hostsOf(config.listen.host, port, config);
  return new Set([...own, ...(reached === config.addressDomain ? [] : [reached])]);
}

/** Returns the Host headers that name a server of this process which listens there. */
export function hostsOf(
  host: string,
  port: number,
  { allowHosts }: Pick<Config, 'allowHosts'>,
): Set<string> {
  const names = ['localhost', '127.0.0.1', '[::1]', urlHost(host)];
  const own = names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
  return new Set([...own, ...allowHosts.flatMap((name) => [name, `${name}:${port}`])]);
}

/** Returns the Host headers of payers: the address domain, and the host that --sidecar-url gives the callbacks. */
function domainHosts({
  addressDomain,
  sidecarUrl,
}: Pick<Config, 'addressDomain' | 'sidecarUrl'>): Set<string> {
  if (addressDomain === null) return new Set();
  return new Set([addressDomain, ...(sidecarUrl === null ? [] : [new URL(sidecarUrl).host])]);
}
