import { hex } from '@scure/base';
import type { Config } from '../config/config.ts';
import { type ConsoleDoor, openConsoleDoor } from '../http/console/door.ts';
import { credentialsOf, type KnownCredentials } from '../http/middleware/authenticate.ts';
import type { Parts } from '../http/parts.ts';
import type { WebhookSender } from '../http/webhook-sender.ts';
import { elapsedMs, systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { processMetrics } from '../lib/process-metrics.ts';
import { random } from '../lib/random.ts';
import { createNameResolver } from '../net/bip353.ts';
import {
  createGuardedFetch,
  createGuardedRequest,
  createGuardedTextFetch,
} from '../net/guarded-fetch.ts';
import { createLnurlClient } from '../net/lnurl.ts';
import { createRates } from '../net/rates.ts';
import { createTxtResolver } from '../net/txt-resolver.ts';
import { socketThrough } from '../nodes/remote/calls/socks-agent.ts';
import type { Sandbox } from '../nodes/sandbox/index.ts';
import { openNwc, type RunningNwc } from '../nwc/index.ts';
import { openReach } from '../nwc/reach.ts';
import type { Store } from '../store/ports.ts';
import { VERSION } from '../version.ts';
import { observationRules } from '../wallet/follow/observe.ts';
import { zoneText } from '../wallet/names/claim.ts';
import { type Names, openNames } from '../wallet/names/names.ts';
import { Wallets } from '../wallet/open/wallets.ts';
import { redeliveryLimit } from '../wallet/read/redelivery-limit.ts';
import type { StoreGuard } from '../wallet/session/ports.ts';
import { type Dispatcher, startDispatcher } from '../webhooks/dispatcher.ts';
import { deliveryRule } from '../webhooks/draft.ts';
import { lowBudgetRule } from '../webhooks/low-budget.ts';
import { targets } from '../webhooks/target.ts';
import { testMessage } from '../webhooks/test-message.ts';
import type { Doubts } from './health.ts';
import type { Listener } from './listener.ts';
import type { Nodes } from './open-nodes.ts';

/** How long a source of rates may take: an invoice waits for it. */
const RATE_TIMEOUT_MS = 5_000;

/** Starts to deliver webhooks. */
export function openDispatcher(
  { webhookUrl: url, webhookSecret: secret }: Pick<Config, 'webhookUrl' | 'webhookSecret'>,
  { store, log, metrics }: { store: Store; log: Log; metrics: Metrics },
): Dispatcher {
  return startDispatcher({
    outbox: store.outbox,
    endpoints: store.webhookEndpoints,
    find: targets(store.webhookEndpoints, url === null ? null : { url, secret }),
    clock: systemClock,
    elapsedMs,
    random: Math.random,
    log,
    metrics,
  });
}

/** Returns what routes need of webhooks. */
export function webhookSender(
  {
    webhookUrl: url,
    webhookSecret,
    webhookEvents: events,
  }: Pick<Config, 'webhookUrl' | 'webhookSecret' | 'webhookEvents'>,
  dispatcher: Pick<Dispatcher, 'wake' | 'forget' | 'sendOnce'>,
): WebhookSender {
  return {
    configured: url === null ? null : { url, signed: webhookSecret !== null, events },
    redeliveries: redeliveryLimit(elapsedMs),
    wake: dispatcher.wake,
    forget: dispatcher.forget,
    async test(endpoint, userPk, signal) {
      const draw = hex.encode(random(16));
      const message = testMessage(userPk, { nowMs: systemClock.now(), draw });
      const sent = await dispatcher.sendOnce(endpoint, message, signal);
      return sent && { ...message, ...sent.record };
    },
  };
}

/** Registers the metrics about the process and the build. */
export function registerFigures(metrics: Metrics, nodeKind: string): void {
  processMetrics(metrics, systemClock);
  metrics.gauge(
    {
      name: 'wallet_sidecar_build_info',
      help: 'The version of the program and the kind of node of the default wallet; the value is always 1.',
      labels: ['version', 'node'],
    },
    async () => [{ labels: { version: VERSION, node: nodeKind }, value: 1 }],
  );
}

/** Opens the wallets of this process. */
export function openWallets(
  config: Config,
  parts: {
    store: Store;
    guard: StoreGuard;
    log: Log;
    nodes: Pick<Nodes, 'connector' | 'root' | 'configured'>;
    wake: () => void;
    doubts: Doubts;
  },
): Wallets {
  const { store, guard, log, nodes, wake, doubts } = parts;
  const configured = config.webhookUrl === null ? null : config.webhookEvents;
  const hears = { configured, clock: systemClock };
  return new Wallets({
    store,
    log,
    guard,
    clock: systemClock,
    elapsedMs,
    random: Math.random,
    rules: observationRules({
      log,
      unproven: ({ index }) => void doubts.unproven.add(index),
      contradicted: ({ index }) => void doubts.contradicted.add(index),
      deliver: deliveryRule(hears),
    }),
    lowBudget: lowBudgetRule(hears),
    historySinceMs: config.historySinceMs,
    onDelivery: wake,
    approvalMs: config.approvalSecs * 1000,
    unfit: (problem) => void doubts.unfit.add(problem),
    unreadable: (index) => void doubts.unreadable.add(index),
    connector: nodes.connector,
    rootConnector: nodes.root,
    rootSeed: config.rootSeed,
    defaultCredentials: config.clientCredentials,
    configured: nodes.configured,
  });
}

/** Returns the clients for outside services that payment strings name. */
export function openServices(
  config: Pick<Config, 'allowPrivateNetwork' | 'dohUrl' | 'rateSources'>,
  { sandbox, names, log }: { sandbox: Sandbox | null; names: Names | null; log: Log },
): Parts['services'] {
  const { allowPrivateNetwork, dohUrl } = config;
  // Services on this machine are allowed only on the sandbox or with --allow-private-network.
  const guard = { allowPrivateNetwork, allowLoopback: sandbox !== null };
  return {
    rates: openRates(config, { sandbox, log }),
    lnurl: createLnurlClient(createGuardedFetch(guard)),
    // What an agent names must reach nothing beside the sidecar, whatever is trusted for payment strings.
    requestResource: createGuardedRequest({ ...guard, allowPrivateNetwork: false }),
    resolveName: createNameResolver({
      resolveTxt: createTxtResolver({ url: dohUrl, clock: systemClock }),
      // Only the sandbox's names are no part of the DNS.
      localZone: async (dnsName) => (sandbox && names ? zoneText(names, dnsName) : null),
    }),
  };
}

/** Opens Nostr Wallet Connect, which asks the application in the names of its clients. */
export function openNwcOf(
  {
    allowPrivateNetwork,
    nwcRelays: trusted,
    nodeProxy: proxy,
  }: Pick<Config, 'allowPrivateNetwork' | 'nwcRelays' | 'nodeProxy'>,
  {
    listener,
    sandbox,
    ...made
  }: { store: Store; log: Log; listener: Pick<Listener, 'answer'>; sandbox: Sandbox | null },
): Promise<RunningNwc> {
  return openNwc({
    ...made,
    askAs: (speaker) => (path, init) => listener.answer(path, init, null, speaker),
    reach: openReach({
      guard: { allowPrivateNetwork, allowLoopback: sandbox !== null },
      trusted,
      through: proxy && ((target) => socketThrough(proxy, target)),
    }),
    trusted,
    clock: systemClock,
  });
}

/** Opens the rates of currencies; null where the configuration names no source of them, so that nobody is asked. */
function openRates(
  {
    rateSources: sources,
    allowPrivateNetwork,
  }: Pick<Config, 'rateSources' | 'allowPrivateNetwork'>,
  { sandbox, log }: { sandbox: Sandbox | null; log: Log },
): Parts['services']['rates'] {
  if (sources.length === 0) return null;
  const guard = { allowPrivateNetwork, allowLoopback: sandbox !== null };
  const fetchText = createGuardedTextFetch({ ...guard, timeoutMs: RATE_TIMEOUT_MS });
  return createRates({ sources, fetchText, clock: systemClock, elapsedMs, log });
}

/** Opens the names of wallets under the address domain. */
export function openServedNames(parts: {
  readonly addressDomain: string;
  readonly sidecarUrl: string;
  readonly store: Store;
  readonly log: Log;
  readonly wallets: Wallets;
}): Names {
  const { addressDomain, sidecarUrl, store, log, wallets } = parts;
  return openNames({
    domain: addressDomain,
    callbackUrl: (username) => `${sidecarUrl}/.well-known/lnurlp/${username}/callback`,
    store,
    log,
    wallets,
    elapsedMs,
    random,
  });
}

/** Opens the way into the console, with no session yet. */
export function openConsole(wallets: Wallets, store: Store, known: KnownCredentials): ConsoleDoor {
  return openConsoleDoor({
    open: (credentials) => wallets.open(credentials),
    credentialsOf: (authorization) => credentialsOf(authorization, known),
    store,
    clock: systemClock,
    elapsedMs,
    random,
  });
}
