import type { Clock } from '../../lib/clock.ts';
import type { Credentials } from '../../model/credentials.ts';
import { ApiError } from '../../model/errors.ts';
import { endedCredentials, openClientSessions } from '../client-sessions.ts';
import type { NodeConnector, NodeSession } from '../node.ts';
import { openChain } from './chain/genesis.ts';
import { startMiner } from './chain/miner.ts';
import { findClient } from './clients.ts';
import { sandboxControls } from './controls.ts';
import { startExpirySweeper } from './expiry.ts';
import { keysOfSeed } from './keys.ts';
import { advance, pendingSends } from './lightning.ts';
import { zoneText } from './names.ts';
import { type NodeParts, sandboxNode } from './node.ts';
import { outsideCoins } from './onchain-owners.ts';
import { provision, publishReleases } from './releases.ts';
import { signUp, walletKeys } from './wallets.ts';
import { openWorld } from './world.ts';

/** What the sandbox is opened with. */
export interface SandboxOptions {
  /** File of the world, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** Version of this program. */
  readonly version: string;
  /** Hex SHA-256 of the running executable. */
  readonly measurement: () => Promise<string>;
  /** Seconds between blocks; 0 mines on request only. */
  readonly blockSecs: number;
  readonly addressDomain: string;
  /** Base URL under which the sidecar serves this world's LNURL services. */
  readonly publicUrl: string;
  readonly buyLinkTemplate: string;
}

/** The running sandbox. */
export interface Sandbox {
  readonly connector: NodeConnector;
  readonly controls: ReturnType<typeof sandboxControls>;
  /** The BIP 353 record of a name of this world, or null. */
  readonly zone: (dnsName: string) => string | null;
}

/**
 * Opens the sandbox node: a simulated chain and Lightning network with real keys, invoices and transactions, for
 * development and tests. What a crash left half done is finished first.
 */
export function openSandbox(options: SandboxOptions): Sandbox {
  const world = openWorld(options);
  openChain(world, outsideCoins(world));
  const miner = startMiner(world, { blockSecs: options.blockSecs });
  const expiry = startExpirySweeper(world);
  const sessions = openClientSessions(world.clock);
  for (const { userPk, index } of pendingSends(world)) advance(world, userPk, index);
  world.commit();
  const { addressDomain, publicUrl, measurement } = options;
  const version = `${options.version}-sandbox`;
  const parts: NodeParts = { world, sessions, expiry, version, measurement, addressDomain };

  const connector: NodeConnector = {
    async connect(credentials: Credentials): Promise<NodeSession> {
      if (credentials.node.kind !== 'sandbox') throw unknownCredentials();
      // A session outlives this call, so it is opened with nothing that a failed commit could take back.
      world.commit();
      const found = findClient(world, credentials);
      if (!found) throw endedCredentials();
      const { userPk, client, ended, guard } = sessions.open(found.userPk, found.client);
      return { userPk, client, ended, node: sandboxNode(parts, userPk, guard) };
    },
    async connectRoot(rootSeed) {
      const { userPk } = keysOfSeed(rootSeed);
      await world.answer(() => walletKeys(world, userPk));
      const never = new AbortController().signal;
      const node = sandboxNode(parts, userPk, () => undefined);
      return { userPk, client: () => null, ended: never, node };
    },
    async signup(rootSeed, { partnerPk }) {
      await world.answer(() => signUp(world, rootSeed, { partnerPk }));
    },
    async provision(rootSeed) {
      const { userPk } = keysOfSeed(rootSeed);
      await world.answer(() => walletKeys(world, userPk));
      const releases = publishReleases([{ version, measurement: await measurement() }]);
      await world.answer(() => provision(world, userPk, releases));
    },
    reachable: () => true,
    async close() {
      miner.close();
      expiry.close();
      sessions.close();
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
  const zone = (dnsName: string) => {
    world.commit();
    return zoneText(world, addressDomain, dnsName);
  };
  return { connector, controls, zone };
}

function unknownCredentials(): ApiError {
  return new ApiError('unauthenticated', 'These credentials are not of the sandbox node.');
}
