import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RemoteKind } from '../../src/model/node-kind.ts';
import type { ConformanceWorld } from '../conformance/world.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { type Body, succeedingCalls } from '../support/requests.ts';
import { commitmentsSettled } from './commitments.ts';
import { findBinaries, findClnBinaries, startClnNetwork, startNetwork } from './harness/index.ts';
import { type RealNetwork, realCln, realLnd, TITLES } from './kinds.ts';
import { startNodeSidecar } from './node-sidecar.ts';
import { answered, type Controls, outsideControls } from './outside-controls.ts';

/** A domain on loopback, since without --require-auth no other is allowed. */
const DOMAIN = 'names.localhost';

/** All files of a test run share one network, since real nodes take seconds to start. It ends with the process. */
let network: Promise<RealNetwork> | null = null;

async function start(kind: RemoteKind): Promise<RealNetwork> {
  const [lnd] = kind === 'lnd' ? findBinaries() : [];
  if (lnd) return realLnd(await startNetwork(lnd));
  const [cln] = kind === 'cln' ? findClnBinaries() : [];
  if (cln) return realCln(await startClnNetwork(cln));
  throw new Error(`The conformance tests on ${TITLES[kind]} need that node and btcd.`);
}

/**
 * Opens the world of the conformance tests on two real nodes: the compiled binary in front of them. Alice's is the
 * default wallet and bob's the second, and he acts as the outside world.
 */
export async function openRealWorld(
  kind: RemoteKind,
  webhookUrl?: string,
): Promise<ConformanceWorld> {
  network ??= start(kind);
  const { alice, bob, ...others } = await network;
  const bobCredentials = await bob.connect();
  // The sidecar connects only to nodes that the configuration names (docs/decisions.md 56).
  const folder = temporaryFolder('real-world');
  const bobPath = join(folder, 'bob.credentials');
  writeFileSync(bobPath, `${bobCredentials}\n`, { mode: 0o600 });
  const sidecar = await startNodeSidecar([
    ...['--client-credentials', await alice.connect()],
    ...['--node-credentials-path', bobPath],
    ...['--channel-peer', `${bob.pubkey}@${bob.peerAddress}`],
    ...['--address-domain', DOMAIN],
    ...(webhookUrl === undefined ? [] : ['--webhook-url', webhookUrl]),
  ]);
  const controls: Controls = {
    ...outsideControls({ ...others, alice, bob }),
    // There are only two wallets, so each call creates another client of bob's.
    async '/sandbox/wallets'() {
      const body = { scopes: ['full'], label: 'sandbox' };
      const { client_credentials } = await sidecar.post(
        '/v2/node/create_client',
        body,
        bobCredentials,
      );
      return { client_credentials, node_pk: bob.pubkey };
    },
  };
  const call: ConformanceWorld['call'] = async (method, path, options = {}) => {
    const control = path.startsWith('/sandbox/') ? controls[path] : undefined;
    if (control) return answered(() => control(options.body as Body));
    // The balances of both nodes show every payment that has ended.
    if (path === '/v2/node/node_info') await commitmentsSettled([alice.steps, bob.steps]);
    return sidecar.call(method, path, options);
  };
  return {
    baseUrl: sidecar.baseUrl,
    port: Number(new URL(sidecar.baseUrl).port),
    domain: DOMAIN,
    dataDir: sidecar.dataDir,
    bob: bobCredentials,
    call,
    ...succeedingCalls(call),
    async restart() {
      expect(await sidecar.stop()).toBe(0);
      await sidecar.start();
    },
    sidecar: () => sidecar.process(),
    async close() {
      await sidecar.close();
      removeFolder(folder);
    },
  };
}
