import type { Config } from '../config/config.ts';
import type { LdkConfig } from '../config/ldk.ts';
import { ConfigError } from '../config/sources.ts';
import { elapsedMs, systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { fileMeasurement } from '../lib/measurement.ts';
import { random } from '../lib/random.ts';
import { decodeCredentials, type NodeCredentials } from '../model/credentials.ts';
import { isApiError } from '../model/errors.ts';
import { type NodeKind, REMOTE_KINDS, type RemoteKind } from '../model/node-kind.ts';
import { REMOTE_NODES, ROOT_SEED_KIND } from '../nodes/kinds.ts';
import { loadedOnUse } from '../nodes/loaded-on-use.ts';
import type { NodeConnector } from '../nodes/node.ts';
import type { RemoteOptions } from '../nodes/remote-kind.ts';
import type { Sandbox } from '../nodes/sandbox/index.ts';
import type { Store } from '../store/ports.ts';
import { type ConfiguredNode, rereading } from './reread.ts';

/** The kinds of nodes that this process can use. */
export interface Nodes {
  /** Null when the default wallet is on a real node, so that worthless coins are never mixed with money. */
  readonly sandbox: Sandbox | null;
  /** Returns the connector of a kind of node; null when this process has none of that kind. */
  readonly connector: (kind: string) => NodeConnector | null;
  /** The real nodes that the configuration names. */
  readonly configured: readonly NodeCredentials[];
  /** Returns one sentence for each problem of a node, for health. */
  readonly problems: () => readonly string[];
  readonly root: NodeConnector;
  /** The kind of node that holds the default wallet, for the log. */
  readonly kind: NodeKind;
  readonly close: () => Promise<void>;
}

interface NodesOptions {
  readonly config: Config;
  readonly store: Store;
  readonly log: Log;
  readonly version: string;
  readonly addressDomain: string;
  readonly sidecarUrl: string;
  /** The file of the sandbox's world, or `:memory:`. */
  readonly sandboxPath: string;
  /** The marker's file; null for a data directory in memory. */
  readonly markerPath: string | null;
  /** Whether the caller signs up the wallet of the root seed on the sandbox. */
  readonly signsUp: boolean;
  readonly measured: (connector: NodeConnector) => NodeConnector;
}

/** Opens a connector for each kind of node. A kind that the configuration does not name is loaded when it is called. */
export async function openNodes(options: NodesOptions): Promise<Nodes> {
  const { config, store, log, version, addressDomain, sidecarUrl, sandboxPath, signsUp, measured } =
    options;
  const kind = defaultKind(config);
  const configured = configuredNodes(config);
  const entries = configured.map(({ node }) => node);
  const reread = rereading(config, configured);
  const sandbox =
    kind === 'sandbox'
      ? (await import('../nodes/sandbox/index.ts')).openSandbox({
          path: sandboxPath,
          clock: systemClock,
          random,
          warn: log.warn,
          version,
          measurement: fileMeasurement(process.execPath),
          blockSecs: config.sandboxBlockSecs,
          addressDomain,
          publicUrl: sidecarUrl,
          buyLinkTemplate: config.buyLinkTemplate,
          missedSeed: signsUp ? null : config.rootSeed,
        })
      : null;
  const embedded = config.ldk && measured(await openLdkOf(config, config.ldk, options));
  const local = sandbox && measured(sandbox.connector);
  const openRemote = async (name: RemoteKind) => {
    const given: RemoteOptions = {
      state: store.connectorState,
      clock: systemClock,
      random,
      root: name === ROOT_SEED_KIND ? config.node : null,
      entries: entries.filter((entry) => entry.kind === name),
      reread,
      mark: store.identity.id,
      channelPeer: config.channelPeer,
      proxy: config.nodeProxy,
    };
    const load = async () => (await REMOTE_NODES[name]()).open(given);
    const isNamed = given.root !== null || given.entries.length > 0;
    return [name, measured(isNamed ? await load() : loadedOnUse(load))] as const;
  };
  const remote = Object.fromEntries(await Promise.all(REMOTE_KINDS.map(openRemote))) as Readonly<
    Record<RemoteKind, NodeConnector>
  >;
  const connectors = new Map(
    Object.entries<NodeConnector | null>({ sandbox: local, ldk: embedded, ...remote }),
  );
  return {
    sandbox,
    kind,
    root: local ?? embedded ?? remote[ROOT_SEED_KIND],
    configured: entries,
    connector: (name) => connectors.get(name) ?? null,
    problems: () => [...connectors.values()].flatMap((connector) => connector?.problems() ?? []),
    async close() {
      await Promise.all([...connectors.values()].map((connector) => connector?.close()));
    },
  };
}

/** Returns the kind of node that holds the default wallet. */
export function defaultKind({
  node,
  ldk,
  clientCredentials,
}: Pick<Config, 'node' | 'ldk' | 'clientCredentials'>): NodeKind {
  if (ldk !== null) return 'ldk';
  if (node !== null) return ROOT_SEED_KIND;
  const credentials = clientCredentials === null ? null : decodeCredentials(clientCredentials);
  return credentials?.node?.kind ?? 'sandbox';
}

/**
 * Starts the embedded node; its code is loaded where it is used. Throws {@link ConfigError} where it is not in this
 * program, or may not be run from the data directory.
 */
async function openLdkOf(
  { dataDir, channelPeer }: Config,
  ldk: LdkConfig,
  { store, log, markerPath }: Pick<NodesOptions, 'store' | 'log' | 'markerPath'>,
): Promise<NodeConnector> {
  const { openLdk } = await import('../nodes/ldk/index.ts');
  const { withLdkMark } = await import('./ldk-mark.ts');
  const state = store.connectorState;
  const opening = openLdk({
    ...ldk,
    ...{ dataDir, channelPeer, random, elapsedMs, log },
    clock: systemClock,
    state: markerPath === null ? state : withLdkMark(state, `${markerPath}.ldk`),
  });
  return opening.catch((error: unknown) => {
    // A start that is repeated would end in the same way.
    throw isApiError(error, 'refused') ? new ConfigError(error.message, { cause: error }) : error;
  });
}

/** Returns the nodes in the default credentials and in --node-credentials-path. Throws {@link ConfigError}. */
function configuredNodes(config: Config): ConfiguredNode[] {
  const { clientCredentials, clientCredentialsSource, clientCredentialsPath } = config;
  const own = clientCredentials === null ? null : decodeCredentials(clientCredentials)?.node;
  const further = config.nodeCredentials.map(({ text, source, path }) => {
    const node = decodeCredentials(text)?.node;
    if (node) return { node, source, path };
    throw new ConfigError(
      `${source} is not a file that "wallet-sidecar connect" wrote: create it with that command.`,
    );
  });
  const all = [
    ...(own ? [{ node: own, source: clientCredentialsSource, path: clientCredentialsPath }] : []),
    ...further,
  ];
  for (const [i, { node, source }] of all.entries()) {
    const first = all.findIndex((other) => isSameNode(other.node, node));
    if (first === i) continue;
    throw new ConfigError(
      `${all[first]?.source} and ${source} are for the same node: keep one of them.`,
    );
  }
  return all;
}

/** Files of version 0.1 lack the node's key. They are known by the token, which is of one node. */
function isSameNode(a: NodeCredentials, b: NodeCredentials): boolean {
  return (a.nodePk !== null && a.nodePk === b.nodePk) || a.token === b.token;
}
