import { expect } from 'bun:test';
import { join } from 'node:path';
import type { PaymentJson } from '../../src/model/payment.ts';
import { openLdkWorld } from '../interop/ldk-world.ts';
import { openRealWorld } from '../interop/real-world.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import {
  type Answer,
  type Body,
  type CallOptions,
  type SucceedingCalls,
  succeedingCalls,
} from '../support/requests.ts';
import { worldClosed } from './called-routes.ts';
import { CONFORMANCE_NODE } from './node-test.ts';
import { request } from './request.ts';

/** The compiled binary on a sandbox of its own, with a funded default wallet and a second one. */
export interface ConformanceWorld extends SucceedingCalls {
  readonly baseUrl: string;
  readonly port: number;
  /** The domain of names. */
  readonly domain: string;
  readonly dataDir: string;
  /** Credentials of the second wallet, with scope full. */
  readonly bob: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  restart(): Promise<void>;
  sidecar(): DevSidecar;
  close(): Promise<void>;
}

/** Opens a world. The binary must have been built, as `npm test` does. */
export function openConformanceWorld(webhookUrl?: string): Promise<ConformanceWorld> {
  if (CONFORMANCE_NODE === 'sandbox') return openSandboxWorld(webhookUrl);
  if (CONFORMANCE_NODE === 'ldk') return openLdkWorld(webhookUrl);
  return openRealWorld(CONFORMANCE_NODE, webhookUrl);
}

async function openSandboxWorld(webhookUrl?: string): Promise<ConformanceWorld> {
  const dataDir = temporaryFolder('conformance');
  const port = freePort();
  const options = { dataDir: join(dataDir, 'data'), port, ...(webhookUrl ? { webhookUrl } : {}) };
  let sidecar = await startDevSidecar(options);
  const { baseUrl } = sidecar;
  const call = (method: string, path: string, given: CallOptions = {}) =>
    request(baseUrl, method, path, given);
  const world: ConformanceWorld = {
    baseUrl,
    port,
    domain: `127.0.0.1:${port}`,
    dataDir: options.dataDir,
    bob: '',
    call,
    ...succeedingCalls(call),
    async restart() {
      expect(await sidecar.stop()).toBe(0);
      sidecar = await startDevSidecar(options);
    },
    sidecar: () => sidecar,
    async close() {
      await sidecar.stop();
      removeFolder(dataDir);
      worldClosed();
    },
  };
  const { client_credentials } = await world.post('/sandbox/wallets');
  return { ...world, bob: client_credentials as string };
}

/** Returns an answer as a Payment of the API. */
export function asPayment(body: Body): PaymentJson {
  return body as unknown as PaymentJson;
}
