import { join } from 'node:path';
import type { NodeSidecar } from '../tests/interop/node-sidecar.ts';
import { removeFolder, temporaryFolder } from '../tests/support/folder.ts';
import { freePort } from '../tests/support/ports.ts';
import { sendOk } from '../tests/support/requests.ts';
import type { Comparison } from './compared.ts';
import { running } from './floors.ts';

/** How the bare program reaches its node. */
interface NodeAccess {
  readonly kind: 'lnd' | 'cln';
  readonly url: string;
  readonly certPath: string;
  /** The macaroon in hex, or the rune. */
  readonly token: string;
}

/** The bare program of `floor-program.ts`, started beside a node: the least that is added by a process in between. */
export interface NodeFloor {
  nodeInfo(): Promise<unknown>;
  createInvoice(): Promise<unknown>;
  pay(invoice: string): Promise<unknown>;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Returns the processes of a sidecar and of the bare program beside it, whose CPU time is told. */
export function pidsOf(sidecar: NodeSidecar, floor: NodeFloor): Comparison['pids'] {
  return { sidecar: sidecar.process().pid, beside: floor.pid, besideIs: 'a bare program' };
}

/** Starts the bare program. */
export async function startNodeFloor(access: NodeAccess): Promise<NodeFloor> {
  const folder = temporaryFolder('floor');
  const port = freePort();
  const program = join(import.meta.dir, 'floor-program.ts');
  const given = JSON.stringify({ port, folder, ...access });
  const child = await running([process.execPath, 'run', program, given], port);
  const base = `http://127.0.0.1:${port}`;
  const post = (path: string, body: unknown) => sendOk(base, 'POST', path, { body });
  return {
    nodeInfo: () => sendOk(base, 'GET', '/v2/node/node_info'),
    createInvoice: () => post('/v2/node/create_invoice', { amount: '1' }),
    pay: (invoice) => post('/v2/node/pay_invoice', { invoice }),
    pid: child.pid,
    async stop() {
      await child.stop();
      removeFolder(folder);
    },
  };
}
