import { refused } from '../../model/errors.ts';
import type { ConnectedWallet, NodeConnector } from '../node.ts';
import { openChain } from './chain/genesis.ts';
import { startMiner } from './chain/miner.ts';
import { sandboxControls } from './controls.ts';
import { advance, pendingSends } from './lightning/decisions.ts';
import { type NodeParts, sandboxNode } from './node.ts';
import { outsideCoins } from './onchain/owners.ts';
import { startExpirySweeper } from './world/expiry.ts';
import type { LegacyClient } from './world/first-clients.ts';
import { userPkOfSeed } from './world/keys.ts';
import {
  forgetLegacyClients,
  forgetLegacyNames,
  type LegacyName,
  legacyClients,
  legacyNames,
} from './world/legacy.ts';
import { provision, publishReleases } from './world/releases.ts';
import { OWNER, openTokens } from './world/tokens.ts';
import { hasWallet, signUp, walletKeys } from './world/wallets.ts';
import { openWorld, type WorldOptions } from './world/world.ts';

export { SCHEMA_VERSION as SANDBOX_SCHEMA_VERSION } from './world/migrations.ts';

interface SandboxOptions extends WorldOptions {
  readonly version: string;
  /** Hex SHA-256 of the running executable. */
  readonly measurement: () => Promise<string>;
  /** Seconds between blocks; 0 mines on request only. */
  readonly blockSecs: number;
  readonly addressDomain: string;
  /** Base URL under which the sidecar serves this world's LNURL services. */
  readonly publicUrl: string;
  readonly buyLinkTemplate: string;
  /** The root seed whose wallet is missed until it is signed up; null misses none. */
  readonly missedSeed: Uint8Array | null;
}

/** The running sandbox. */
export interface Sandbox {
  readonly connector: NodeConnector;
  readonly controls: ReturnType<typeof sandboxControls>;
  /** Clients that version 0.1 kept in this file, for the store that keeps clients now. */
  readonly legacyClients: () => LegacyClient[];
  /** Must be called once these clients are durable in the store; they are not returned again. */
  readonly forgetLegacyClients: () => void;
  /** Names that version 0.2 kept in this file, for the store that keeps names now. */
  readonly legacyNames: () => LegacyName[];
  /** Must be called once these names are durable in the store; they are not returned again. */
  readonly forgetLegacyNames: () => void;
}

const NOT_SIGNED_UP =
  'The wallet of the root seed is not signed up yet: run "wallet-sidecar signup", once.';

/**
 * Opens the sandbox node: a simulated chain and Lightning network with real keys, invoices and transactions, for
 * development and tests (docs/decisions.md 77). Sends that a crash interrupted are finished first.
 */
export function openSandbox(options: SandboxOptions): Sandbox {
  const world = openWorld(options);
  openChain(world, outsideCoins(world));
  const miner = startMiner(world, { blockSecs: options.blockSecs });
  const expiry = startExpirySweeper(world);
  for (const { userPk, index } of pendingSends(world)) advance(world, userPk, index);
  world.commit();
  const tokens = openTokens(world);
  const { addressDomain, publicUrl, measurement, missedSeed } = options;
  let isMissed = missedSeed !== null && !hasWallet(world, userPkOfSeed(missedSeed));
  const version = `${options.version}-sandbox`;
  const parts: NodeParts = { world, tokens, expiry, version, measurement };

  async function openOwner(userPk: string): Promise<ConnectedWallet> {
    await world.durably(() => walletKeys(world, userPk));
    return { userPk, node: sandboxNode(parts, userPk, OWNER), grant: null };
  }

  const connector: NodeConnector = {
    async connectConfigured() {
      throw refused(
        'The sandbox has no configured credentials: leave them out, or set a root seed.',
      );
    },
    async connectClient(userPk, token) {
      const access = tokens.accessOf(userPk, token);
      access.require();
      return { userPk, node: sandboxNode(parts, userPk, access), grant: null };
    },
    connectOwner: openOwner,
    connectRoot: (rootSeed) => openOwner(userPkOfSeed(rootSeed)),
    async signup(rootSeed, { partnerPk }) {
      await world.durably(() => signUp(world, rootSeed, { partnerPk }));
      isMissed = false;
    },
    async provision(rootSeed) {
      const userPk = userPkOfSeed(rootSeed);
      await world.durably(() => walletKeys(world, userPk));
      const releases = publishReleases([{ version, measurement: await measurement() }]);
      await world.durably(() => provision(world, userPk, releases));
    },
    problems: () => (isMissed ? [NOT_SIGNED_UP] : []),
    async close() {
      miner.close();
      expiry.close();
      world.close();
    },
  };
  const controls = sandboxControls({
    ...parts,
    miner,
    buyLinkTemplate: options.buyLinkTemplate,
    lnurlUrl: (name) => `${publicUrl}/sandbox/lnurl/${name}`,
    lnurlHost: {
      callbackUrl: (name) => `${publicUrl}/sandbox/lnurl/${name}/callback`,
      domain: addressDomain,
    },
  });
  return {
    connector,
    controls,
    legacyClients: () => legacyClients(world),
    forgetLegacyClients: () => forgetLegacyClients(world),
    legacyNames: () => legacyNames(world),
    forgetLegacyNames: () => forgetLegacyNames(world),
  };
}
