import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '../../src/model/errors.ts';
import type { ConformanceWorld } from '../conformance/world.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { type Answer, type Body, succeedingCalls } from '../support/requests.ts';
import { startNodeSidecar } from './node-sidecar.ts';
import type { Controls } from './outside-controls.ts';

/** Two real nodes with a channel, and who acts as the outside world. */
export interface RealNodes {
  /** Credentials of the default wallet and of the second wallet. */
  readonly aliceCredentials: string;
  readonly bobCredentials: string;
  /** The node of the second wallet, to which channels are opened. */
  readonly bob: { readonly pubkey: string; readonly peerAddress: string };
  /** What stands for the sandbox's controls. */
  readonly controls: Controls;
  /** Resolves when the balances of both nodes show every payment that has ended. */
  settled(): Promise<void>;
}

/** A domain on loopback, since without --require-auth no other is allowed. */
const DOMAIN = 'names.localhost';

/** Opens the world of the conformance tests on real nodes: the compiled binary in front of them. */
export async function openRealWorld(
  nodes: RealNodes,
  webhookUrl?: string,
): Promise<ConformanceWorld> {
  const { bobCredentials } = nodes;
  // The sidecar connects only to nodes that the configuration names (docs/decisions.md 56).
  const folder = temporaryFolder('real-world');
  const bobPath = join(folder, 'bob.credentials');
  writeFileSync(bobPath, `${bobCredentials}\n`, { mode: 0o600 });
  const sidecar = await startNodeSidecar([
    ...['--client-credentials', nodes.aliceCredentials],
    ...['--node-credentials-path', bobPath],
    ...['--channel-peer', `${nodes.bob.pubkey}@${nodes.bob.peerAddress}`],
    ...['--address-domain', DOMAIN],
    ...(webhookUrl === undefined ? [] : ['--webhook-url', webhookUrl]),
  ]);
  const controls: Controls = {
    ...nodes.controls,
    // There are only two wallets, so each call creates another client of bob's.
    async '/sandbox/wallets'() {
      const body = { scopes: ['full'], label: 'sandbox' };
      const { client_credentials } = await sidecar.post(
        '/v2/node/create_client',
        body,
        bobCredentials,
      );
      return { client_credentials, node_pk: nodes.bob.pubkey };
    },
  };
  const call: ConformanceWorld['call'] = async (method, path, options = {}) => {
    const control = path.startsWith('/sandbox/') ? controls[path] : undefined;
    if (control) return answered(() => control(options.body as Body));
    if (path === '/v2/node/node_info') await nodes.settled();
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

async function answered(act: () => Promise<unknown>): Promise<Answer> {
  const headers = new Headers();
  try {
    return { status: 200, headers, body: (await act()) as Body };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.httpStatus, headers, body: error.body() };
  }
}
