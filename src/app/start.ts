import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { hasDefaultWallet, requireSafeExposure } from '../config/exposure.ts';
import { localUrl } from '../config/network.ts';
import type { Parts } from '../http/parts.ts';
import { elapsedMs, systemClock } from '../lib/clock.ts';
import { ownDataDir, readOwner } from '../lib/files/data-dir.ts';
import { openMarker } from '../lib/files/marker-file.ts';
import type { Log } from '../lib/log.ts';
import { openMetrics } from '../lib/metrics.ts';
import { listenFailed } from '../lib/network/listen-problem.ts';
import { urlHost } from '../lib/network/url-host.ts';
import { random } from '../lib/random.ts';
import { Steps } from '../lib/steps.ts';
import { measuredNodes } from '../nodes/measured.ts';
import type { Phoenixd } from '../phoenixd/server.ts';
import { measuredStore } from '../store/measured.ts';
import { COMMIT, VERSION } from '../version.ts';
import { openStoreGuard } from '../wallet/budget/store-guard.ts';
import { walletMetrics } from '../wallet/open/wallet-metrics.ts';
import { careForData } from './data-care.ts';
import { SANDBOX_FILE } from './data-files.ts';
import { withDevWallet } from './dev-wallet.ts';
import { openFleet } from './fleet.ts';
import { health, noDoubts, outOfBudgets, watchBudgets } from './health.ts';
import { keepHouse } from './housekeeping.ts';
import { hostsOf, openHttpApp } from './http-app.ts';
import { type Listener, listen } from './listener.ts';
import { defaultKind, openNodes } from './open-nodes.ts';
import { openStore, requireUsableDatabase } from './open-store.ts';
import {
  openConsole,
  openDispatcher,
  openNwcOf,
  openServedNames,
  openServices,
  openWallets,
  registerFigures,
  webhookSender,
} from './parts.ts';
import { ending, endWaits } from './stop.ts';
import { takeOverSandboxClients, takeOverSandboxNames } from './take-over.ts';
import { tellSystemd } from './tell-systemd.ts';
import { tellingGuard } from './telling-guard.ts';
import { unfitRows } from './unfit-rows.ts';

/** What a start is given. */
export interface Given {
  readonly mode: 'serve' | 'dev';
  /** The configuration as it was read. The step `config` adds the trial wallet. */
  readonly given: Config;
  readonly log: Log;
  readonly stopping: AbortController;
  /** Whether the trial wallet of `dev` on the sandbox is signed up and funded. */
  readonly trial: { isReady: boolean };
}

/**
 * The steps of a start, up to where it answers requests. Each is undone when a later one fails, and when the server
 * stops; what is undone has its time in `stop.ts`.
 */
export const START = new Steps<Given>()
  // Listening comes before anything is written, so that a start that fails because of its port leaves no files behind.
  .step('listener', ({ given }) => {
    const listener = listenOrExplain(given);
    return { value: listener, undo: ending('port', listener.close) };
  })
  .step('phoenixd', async ({ given, listener, log }) => {
    const phoenixd = await openPhoenixdOf(given, listener, log);
    return { value: phoenixd, undo: phoenixd && ending('port', () => phoenixd.stop(true)) };
  })
  .step('owned', ({ given }) => {
    const owned = given.dataDir === ':memory:' ? null : ownDataDir(given.dataDir);
    return { value: owned, undo: owned && ending('lock', () => owned.release()) };
  })
  .step('config', ({ mode, given }) => {
    const config = mode === 'dev' ? withDevWallet(given) : given;
    requireSafeExposure(config, { onRealNode: defaultKind(config) !== 'sandbox' });
    requireUsableDatabase(config);
    return { value: config };
  })
  .step('metrics', ({ config }) => {
    const metrics = openMetrics();
    registerFigures(metrics, defaultKind(config));
    return { value: metrics };
  })
  // An unreadable marker must stop the program before it creates a database.
  .step('marker', ({ config, log }) => {
    const marker = openMarker(config);
    if (marker.warning !== null) log.warn(marker.warning);
    return { value: { ...marker, isSigned: marker.read()?.isSigned === true } };
  })
  .step('noteUrl', ({ config, owned, listener }) => ({
    value: () => owned?.noteUrl(localUrl({ host: config.listen.host, port: listener.port })),
  }))
  .step('fleet', ({ config, owned, noteUrl, listener, log, metrics, marker, stopping }) => ({
    value: openFleet(config, {
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
    }),
  }))
  .step('rows', ({ config, log }) => ({ value: unfitRows(log, !config.requireAuth) }))
  .step('opened', async ({ config, log, marker, rows, fleet }) => {
    const opened = await openStore(config, {
      isMarkedSigned: marker.isSigned,
      onUnfit: rows.tell,
      standingBy: fleet?.standingBy ?? null,
      onLost(message) {
        // Nothing may be written or sent any more, so nothing is left to be ended in order.
        log.error(message);
        process.exit(1);
      },
    });
    return { value: opened, undo: ending('store', () => opened.store.close()) };
  })
  .step('budgets', async ({ fleet, opened, metrics }) => {
    await fleet?.take();
    return { value: await watchBudgets(measuredStore(opened.store, metrics, systemClock)) };
  })
  .step('store', ({ budgets }) => ({ value: budgets.store }))
  .step('site', ({ config, listener: { baseUrl } }) => ({
    value: {
      sidecarUrl: config.sidecarUrl ?? baseUrl,
      addressDomain: config.addressDomain ?? baseUrl.replace('http://', ''),
    },
  }))
  .step('nodes', async ({ mode, config, store, log, site, metrics, marker }) => {
    const { dataDir } = config;
    const nodes = await openNodes({
      config,
      store,
      log,
      version: VERSION,
      ...site,
      sandboxPath: dataDir === ':memory:' ? ':memory:' : join(dataDir, SANDBOX_FILE),
      markerPath: marker.path,
      signsUp: mode === 'dev',
      measured: measuredNodes(metrics, elapsedMs),
    });
    return { value: nodes, undo: ending(config.ldk ? 'ldk' : 'node', nodes.close) };
  })
  .step('data', async ({ config, log }) => {
    const data = await careForData(config.dataDir, log);
    return { value: data, undo: ending('data', data.stop) };
  })
  .step('dispatcher', ({ config, store, log, metrics }) => {
    const dispatcher = openDispatcher(config, { store, log, metrics });
    return { value: dispatcher, undo: ending('webhooks', dispatcher.stop) };
  })
  .step('guard', async ({ config, opened, store, marker, log }) => ({
    value: tellingGuard(config, opened, await openStoreGuard(store.identity, marker, log)),
  }))
  .step('doubts', () => ({ value: noDoubts() }))
  .step('nwc', async ({ config, store, log, metrics, nodes, listener }) => {
    const nwc = await openNwcOf(config, { store, log, listener, sandbox: nodes.sandbox });
    metrics.gauge(
      {
        name: 'wallet_sidecar_nwc_relay_connected',
        help: 'Whether a relay of Nostr Wallet Connect is connected (1) or not (0).',
        labels: ['relay'],
      },
      async () =>
        nwc.relays().map(({ url, isOpen }) => ({ labels: { relay: url }, value: isOpen ? 1 : 0 })),
    );
    return { value: nwc };
  })
  .step('wallets', ({ config, store, guard, log, nodes, doubts, dispatcher }) => {
    const wallets = openWallets(config, {
      store,
      guard,
      log,
      nodes,
      wake: dispatcher.wake,
      doubts,
    });
    return { value: wallets, undo: ending('feeds', () => wallets.stop()) };
  })
  .step('names', async ({ config, nodes: { sandbox }, store, log, wallets, site }) => {
    if (sandbox) {
      await takeOverSandboxClients(store, sandbox);
      await takeOverSandboxNames(store, sandbox);
    }
    // Without a domain of their own, names are served on the sandbox alone (docs/decisions.md 100).
    const isServed = sandbox !== null || config.addressDomain !== null;
    return { value: isServed ? openServedNames({ ...site, store, log, wallets }) : null };
  })
  .step('cookie', ({ config, owned, noteUrl }) => {
    // A cookie would be good at one of the sidecars of a fleet alone (docs/decisions.md 73, 198).
    const cookie = config.database?.peerUrl ? null : (owned?.writeCookie(random) ?? null);
    // The address is noted now, because the command line sends the cookie to the noted address.
    noteUrl();
    return { value: cookie };
  })
  .step('health', ({ config, nodes, guard, data, store, doubts, rows, budgets, nwc, trial }) => ({
    value: () => {
      const unbounded = outOfBudgets({ config, hasBudgets: budgets.any });
      const status = health({
        config,
        nodes,
        guard,
        data,
        store,
        ...doubts,
        rows,
        relaysAway: () => nwc.relays().filter(({ failures }) => failures > 1),
        hasBudgets: budgets.any,
        isTrialWalletReady: trial.isReady || nodes.sandbox === null,
      });
      return unbounded === null ? { status } : { status, budgets: unbounded };
    },
  }))
  .step('parts', ({ config, nodes: { sandbox }, wallets, names, nwc, ...made }) => {
    const { store, log, metrics, health, cookie, dispatcher, site } = made;
    const parts: Parts = {
      wallets,
      store,
      log,
      metrics,
      version: VERSION,
      commit: COMMIT,
      clock: systemClock,
      fees: config.maxFee,
      health,
      sidecarUrl: site.sidecarUrl,
      console: openConsole(wallets, store, {
        requireAuth: config.requireAuth,
        cookie,
        hasDefaultWallet: hasDefaultWallet(config),
      }),
      webhooks: webhookSender(config, dispatcher),
      services: openServices(config, { sandbox, names, log }),
      buyLink: (invoice) => config.buyLinkTemplate.replace('<invoice>', invoice),
      sandbox: sandbox?.controls ?? null,
      lnurlServices: sandbox?.controls ?? null,
      names,
      nwc,
    };
    return { value: parts };
  })
  .step('app', ({ config, listener, nodes, metrics, wallets, health, parts, cookie, stopping }) => {
    // Nodes are asked in the background, so that the first request for health finds what they answered.
    nodes.problems();
    walletMetrics(metrics, wallets, systemClock);
    metrics.gauge(
      {
        name: 'wallet_sidecar_healthy',
        help: '1 while health is ok, 0 while something is missing.',
      },
      async () => [{ labels: {}, value: health().status === 'ok' ? 1 : 0 }],
    );
    const app = openHttpApp(config, parts, {
      port: listener.port,
      cookieToken: cookie,
      stopping: stopping.signal,
    });
    return { value: app };
  })
  .step('answering', ({ listener, phoenixd, fleet, opened: { leader }, app }) => {
    if (fleet && leader) fleet.lead(app, leader.fence);
    else listener.answerWith(app);
    // What the one answers is asked of the other.
    const stop = async () => {
      await phoenixd?.stop();
      await listener.stop();
    };
    return { value: null, undo: ending('requests', stop) };
  })
  .step('paired', async ({ nwc }) => {
    await nwc.start();
    return { value: null, undo: ending('relays', async () => nwc.stop()) };
  })
  .step('waits', ({ stopping }) => ({
    value: null,
    undo: ending('waits', () => endWaits(stopping)),
  }))
  .step('housekeeping', async ({ guard, store, log }) => {
    await guard.tell();
    return { value: null, undo: ending('housekeeping', keepHouse(store, log)) };
  });

function listenOrExplain({
  listen: address,
  dataDir,
}: Pick<Config, 'listen' | 'dataDir'>): Listener {
  try {
    return listen(address);
  } catch (error) {
    const owner = dataDir === ':memory:' ? null : readOwner(dataDir);
    throw listenFailed(`${urlHost(address.host)}:${address.port}`, error, owner);
  }
}

/** Opens phoenixd's API where the configuration asks for it; what serves it is loaded then alone. */
async function openPhoenixdOf(
  config: Config,
  { answer: ask }: Listener,
  log: Log,
): Promise<Phoenixd | null> {
  if (config.phoenixdListen === null) return null;
  const { host, port } = config.phoenixdListen;
  const { openPhoenixd } = await import('../phoenixd/server.ts');
  try {
    const allowedHosts = (own: number) => hostsOf(host, own, config);
    return openPhoenixd({ host, port, allowedHosts, ask, log });
  } catch (error) {
    throw listenFailed(`${urlHost(host)}:${port}`, error, null, '--phoenixd-listen-addr');
  }
}
