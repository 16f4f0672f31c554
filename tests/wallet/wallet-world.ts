import { hex } from '@scure/base';
import { openLog } from '../../src/lib/log.ts';
import { sleep } from '../../src/lib/sleep.ts';
import type { NodeConnector, WalletNode } from '../../src/nodes/node.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { openStoreGuard } from '../../src/wallet/budget/store-guard.ts';
import type { Feed } from '../../src/wallet/follow/feed.ts';
import { observationRules } from '../../src/wallet/follow/observe.ts';
import { Wallets } from '../../src/wallet/open/wallets.ts';
import type { Resolver } from '../../src/wallet/pay/resolver.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { memoryMarker } from '../support/memory-marker.ts';
import { WALLET } from '../support/store-steps.ts';
import { until } from '../support/until.ts';
import { type FakeNode, fakeNode } from './fake-node.ts';

const ROOT_SEED = new Uint8Array(32).fill(7);

/**
 * The wallet {@link WALLET} on a fake node, or on the one that is given, and a store in memory. Time passes only when
 * the test says so.
 */
export async function walletWorld(
  options: { readonly history?: boolean; readonly node?: WalletNode } = {},
) {
  /** What the rules reject: the node told of a payment that has ended as if it had ended otherwise. */
  const ended: string[] = [];
  const log = openLog({
    level: 'error',
    format: 'text',
    write: (line) => void (line.includes('finalized payment') && ended.push(line)),
  });
  const fake: FakeNode = fakeNode(options);
  const store = openSqliteStore(':memory:');
  const marker = memoryMarker();
  /** Runs whenever the node is connected to; a test may replace it. */
  const onConnect = async (): Promise<void> => undefined;
  /** Tells that the node does not accept the token of the client that connected last. */
  const tokenEnded = (_tokenId: string): void => undefined;
  const ends = { start, kill, close };
  /** The unfinished payments that health is told of, since their rows cannot be read. */
  const unreadable: string[] = [];
  const hooks = { onConnect, tokenEnded, elapsedMs: 0, pause: sleep, unreadable };
  const world = { fake, store, marker, ...hooks, ...ends };
  const connected = async () => {
    await world.onConnect();
    return { userPk: WALLET, node: options.node ?? fake.node, grant: null };
  };
  const connector: NodeConnector = {
    connectConfigured: connected,
    // Every seed but that of this process has a wallet of its own.
    connectRoot: async (seed) => ({
      ...(await connected()),
      userPk: Buffer.from(seed).equals(ROOT_SEED) ? WALLET : hex.encode(seed),
    }),
    connectOwner: connected,
    async connectClient(_userPk, _token, ended = () => undefined) {
      world.tokenEnded = ended;
      return connected();
    },
    signup: async () => undefined,
    provision: async () => undefined,
    problems: () => [],
    close: async () => undefined,
  };
  let wallets: Wallets | null = null;
  const owners: Session[] = [];

  /** Starts a process over the present store. */
  async function start() {
    wallets = new Wallets({
      store,
      guard: await openStoreGuard(store.identity, marker, log),
      rules: observationRules({ log, deliver: () => null }),
      lowBudget: () => null,
      log,
      clock: (options.node ?? fake.node).clock,
      elapsedMs: () => world.elapsedMs,
      random: () => 0,
      historySinceMs: null,
      pause: (ms, signal) => world.pause(ms, signal),
      onDelivery: () => undefined,
      approvalMs: 3_600_000,
      unreadable: (index) => void unreadable.push(index),
      connector: () => connector,
      rootConnector: connector,
      rootSeed: ROOT_SEED,
      defaultCredentials: null,
      configured: [],
    });
    const owner = await wallets.open(null);
    owners.push(owner);
    return { wallets, owner };
  }

  /** Ends the process as a kill does. Calls to the node that it made may still return to it. */
  function kill(): void {
    wallets?.stop();
  }

  async function close(): Promise<void> {
    kill();
    await until(() => owners.every((owner) => !resolverOf(owner).busy), 'unfinished work ends');
    await store.close();
    if (ended.length > 0) throw new Error(ended.join('\n'));
  }
  return world;
}

/** The feed of a session as the wallet runs it, with what only the wallet asks of it. */
export const feedOf = ({ feed }: Session): Feed => feed as Feed;

/** The resolver of a session as the wallet runs it. */
export const resolverOf = ({ resolver }: Session): Resolver => resolver as Resolver;

export type WalletWorld = Awaited<ReturnType<typeof walletWorld>>;
