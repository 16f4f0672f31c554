import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Config, loadConfig } from '../config/config.ts';
import { hasDefaultWallet, isOpenToAll, requireSafeExposure } from '../config/exposure.ts';
import { localUrl } from '../config/network.ts';
import { ConfigError, type Flags } from '../config/sources.ts';
import type { Parts } from '../http/parts.ts';
import { elapsedMs, systemClock } from '../lib/clock.ts';
import { writeCookie } from '../lib/cookie-file.ts';
import { ownDataDir, readOwner } from '../lib/data-dir.ts';
import { fileUnusable, isFileFailure } from '../lib/file-problem.ts';
import { listenFailed } from '../lib/listen-problem.ts';
import { openLog } from '../lib/log.ts';
import { openMarker } from '../lib/marker-file.ts';
import { openMetrics } from '../lib/metrics.ts';
import { urlHost } from '../lib/url-host.ts';
import { ApiError } from '../model/errors.ts';
import { measuredNodes } from '../nodes/measured.ts';
import { measuredStore } from '../store/measured.ts';
import { VERSION } from '../version.ts';
import { openStoreGuard } from '../wallet/budget/store-guard.ts';
import { walletMetrics } from '../wallet/open/wallet-metrics.ts';
import { careForData } from './data-care.ts';
import { fundDevWallet, welcomeJson, welcomeLines, withDevWallet } from './dev-wallet.ts';
import { openFleet } from './fleet.ts';
import { health, watchBudgets } from './health.ts';
import { keepHouse } from './housekeeping.ts';
import { openHttpApp } from './http-app.ts';
import { listen } from './listener.ts';
import { defaultKind, openNodes } from './open-nodes.ts';
import { openStore, requireUsableDatabase } from './open-store.ts';
import {
  openConsole,
  openDispatcher,
  openServedNames,
  openServices,
  openWallets,
  registerFigures,
  webhookSender,
} from './parts.ts';
import { onStopSignal, stopInStages } from './stop.ts';
import { takeOverSandboxClients } from './take-over-clients.ts';
import { takeOverSandboxNames } from './take-over-names.ts';
import { tellSystemd } from './tell-systemd.ts';
import { tellingGuard } from './telling-guard.ts';
import { unfitRows } from './unfit-rows.ts';

/**
 * Runs the server until the process receives a stop signal. Throws {@link ConfigError}, ListenFailed, FileUnusable,
 * MarkerUnreadable or StoreUnusable; the message names the flag or the path.
 */
export async function serve(mode: 'serve' | 'dev', flags: Flags): Promise<void> {
  // Files that this process creates must be readable by its user alone.
  process.umask(0o077);
  const given = configOf(mode, flags);
  const undo: (() => void | Promise<void>)[] = [];
  const stopping = new AbortController();
  try {
    await start(mode, given, { undo, stopping, json: flags.json === true });
  } catch (error) {
    // The process was told to stop during the start. Stopping closes parts that the start needs, so this error is no
    // failure.
    if (stopping.signal.aborted) return;
    for (const step of undo.toReversed()) await step();
    const cause = error instanceof ApiError ? error.cause : error;
    if (given.dataDir === ':memory:' || !isFileFailure(cause)) throw error;
    throw fileUnusable(given.dataDir, cause, 'use another --data-dir');
  }
}

/**
 * `undo` collects steps that are run if a later step of the start fails. `stopping` is aborted when the process is told
 * to stop. `json` leaves the standard output to one line for scripts; the log goes to the standard error.
 */
async function start(
  mode: 'serve' | 'dev',
  given: Config,
  {
    undo,
    stopping,
    json,
  }: {
    readonly undo: (() => void | Promise<void>)[];
    readonly stopping: AbortController;
    readonly json: boolean;
  },
): Promise<void> {
  const log = openLog({
    level: given.logLevel,
    format: given.logFormat,
    write: json ? (line) => console.error(line) : (line) => console.log(line),
  });
  for (const note of given.notes) log.info(note);
  for (const warning of given.warnings) log.warn(warning);
  // A defect in one request must not stop the payments and webhooks of all others.
  process.on('unhandledRejection', (error) => log.error('An error was not handled.', { error }));
  // Listening comes before anything is written, so that a start that fails because of its port leaves no files behind.
  const listener = listenOrExplain(given);
  const owned = given.dataDir === ':memory:' ? null : ownDataDir(given.dataDir);
  if (owned) undo.push(owned.release);
  const config = mode === 'dev' ? withDevWallet(given) : given;
  requireSafeExposure(config, { onRealNode: defaultKind(config) !== 'sandbox' });
  requireUsableDatabase(config);
  const metrics = openMetrics();
  registerFigures(metrics, defaultKind(config));
  const marker = openMarker(config);
  if (marker.warning !== null) log.warn(marker.warning);
  // An unreadable marker must stop the program before it creates a database.
  const mark = marker.read();
  const noteUrl = () => owned?.noteUrl(localUrl({ host: config.listen.host, port: listener.port }));
  const fleet = openFleet(config, {
    listener,
    log,
    metrics,
    marker,
    stopping,
    onStandBy() {
      noteUrl();
      void tellSystemd(process.env, log);
    },
    onEnd: () => owned?.release(),
  });
  const unfitInStore = unfitRows(log, !config.requireAuth);
  const opened = await openStore(config, {
    isMarkedSigned: mark?.isSigned === true,
    onUnfit: unfitInStore.tell,
    standingBy: fleet?.standingBy ?? null,
    onLost(message) {
      // Nothing may be written or sent any more, so nothing is left to be ended in order.
      log.error(message);
      process.exit(1);
    },
  });
  undo.push(() => opened.store.close().catch(() => undefined));
  await fleet?.take();
  const budgets = await watchBudgets(measuredStore(opened.store, metrics, systemClock));
  const { store } = budgets;
  const { baseUrl } = listener;
  const sidecarUrl = config.sidecarUrl ?? baseUrl;
  const addressDomain = config.addressDomain ?? baseUrl.replace('http://', '');
  const nodes = await openNodes({
    config,
    store,
    version: VERSION,
    addressDomain,
    sidecarUrl,
    sandboxPath: fileIn(config, 'sandbox.sqlite'),
    measured: measuredNodes(metrics, elapsedMs),
  });
  const { sandbox } = nodes;
  const data = await careForData(config.dataDir, log);
  const dispatcher = openDispatcher(config, { store, log, metrics });
  const guard = tellingGuard(config, opened, await openStoreGuard(store.identity, marker, log));
  const unproven = new Set<string>();
  const contradicted = new Set<string>();
  const unfit = new Set<string>();
  const wallets = openWallets(config, {
    store,
    guard,
    log,
    nodes,
    wake: dispatcher.wake,
    unproven: ({ index }) => void unproven.add(index),
    contradicted: ({ index }) => void contradicted.add(index),
    unfit: (problem) => void unfit.add(problem),
  });
  if (sandbox) {
    await takeOverSandboxClients(store, sandbox);
    await takeOverSandboxNames(store, sandbox);
  }
  // Without a domain of their own, names are served on the sandbox alone (docs/decisions.md 100).
  const names =
    sandbox || config.addressDomain !== null
      ? openServedNames(addressDomain, { store, log, wallets, sidecarUrl })
      : null;
  // A cookie would be good at one of the sidecars of a database alone (docs/decisions.md 72).
  const cookie =
    config.dataDir === ':memory:' || config.database !== null
      ? null
      : writeCookie(config.dataDir, (bytes) => new Uint8Array(randomBytes(bytes)));
  if (cookie) undo.push(cookie.remove);
  // The address is noted after the cookie is written, because the command line sends the cookie to the noted address.
  noteUrl();
  let isTrialWalletReady = mode !== 'dev' || sandbox === null;
  const cookieToken = cookie?.token ?? null;
  const parts: Parts = {
    wallets,
    store,
    log,
    metrics,
    version: VERSION,
    clock: systemClock,
    fees: config.maxFee,
    health: () =>
      health({
        config,
        nodes,
        guard,
        data,
        store,
        unproven,
        contradicted,
        unfit,
        rows: unfitInStore,
        hasBudgets: budgets.any,
        isTrialWalletReady,
      }),
    sidecarUrl,
    console: openConsole(wallets, {
      requireAuth: config.requireAuth,
      cookie: cookieToken,
      hasDefaultWallet: hasDefaultWallet(config),
    }),
    webhooks: webhookSender(config, dispatcher),
    services: openServices(config, { sandbox, names }),
    buyLink: (invoice) => config.buyLinkTemplate.replace('<invoice>', invoice),
    sandbox: sandbox?.controls ?? null,
    lnurlServices: sandbox?.controls ?? null,
    names,
  };
  // Nodes are asked in the background, so that the first request for health finds what they answered.
  nodes.problems();
  walletMetrics(metrics, wallets, systemClock);
  const app = openHttpApp(config, parts, {
    port: listener.port,
    cookieToken,
    stopping: stopping.signal,
  });
  if (fleet && opened.leader) fleet.lead(app, opened.leader.fence);
  else listener.answerWith(app);
  await guard.tell();
  const stopHousekeeping = keepHouse(store, log);
  // The signal handlers come before wallets are resumed, because that waits for nodes.
  onStopSignal(async () => {
    log.info('Stopping.');
    stopHousekeeping();
    data.stop();
    await stopInStages({ stopping, listener, wallets, dispatcher, nodes, store }, log);
    cookie?.remove();
    owned?.release();
  });
  // It answers from here on. Resuming wallets may take as long as a node is out of reach.
  void tellSystemd(process.env, log);
  await wallets.resume();
  if (isOpenToAll(config)) {
    log.warn(
      `Every program and user that can reach ${baseUrl} can use the default wallet, as its owner or with the default credentials: start with --require-auth to require credentials.`,
    );
  }
  log.info('wallet-sidecar is ready.', { version: VERSION, url: baseUrl, node: nodes.kind });
  if (mode === 'dev' && sandbox) {
    await fundDevWallet(wallets, sandbox);
    isTrialWalletReady = true;
    if (json) {
      const { dataDir } = config;
      console.log(welcomeJson({ baseUrl, dataDir, token: cookieToken }));
      return;
    }
    const cookiePath = config.requireAuth ? join(config.dataDir, 'cookie') : null;
    for (const line of welcomeLines(baseUrl, cookiePath)) console.log(line);
  }
}

function configOf(mode: 'serve' | 'dev', flags: Flags): Config {
  const config = loadConfig({ flags, env: process.env, cwd: process.cwd() });
  if (mode === 'dev' && config.node !== null) {
    throw new ConfigError('dev runs on the sandbox: leave --node-url out, or use serve.');
  }
  return config;
}

function listenOrExplain(config: Config): ReturnType<typeof listen> {
  try {
    return listen(config.listen);
  } catch (error) {
    const { host, port } = config.listen;
    const owner = config.dataDir === ':memory:' ? null : readOwner(config.dataDir);
    const address = `${urlHost(host)}:${port}`;
    throw listenFailed(address, error, owner);
  }
}

function fileIn(config: Config, name: string): string {
  return config.dataDir === ':memory:' ? ':memory:' : join(config.dataDir, name);
}
