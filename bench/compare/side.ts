import { join } from 'node:path';
import { cpuTimeMs } from '../cpu-time.ts';
import { type Call, newWallet, startSandbox } from '../sandbox.ts';
import { seedPayments } from '../seed-payments.ts';
import type { Measured } from './rounds.ts';

/** A running sidecar of one build, with a payer and a paid invoice. */
export interface Side {
  readonly port: number;
  readonly pid: number;
  /** Credentials of a second wallet. */
  readonly payer: string;
  readonly index: string;
  readonly invoice: string;
  readonly offer: string;
  readonly address: string;
  readonly call: Call;
  /** Starts another process of the build over data of its own, and stops it after its first healthy answer. */
  readonly startOnce: () => Promise<Measured>;
  readonly stop: () => Promise<void>;
}

/** Starts a build with `rows` finished payments in its wallet. */
export async function startSide(binary: string, folder: string, rows: number): Promise<Side> {
  const data = join(folder, 'data');
  const first = await startSandbox(data, { binary });
  const { user_pk: wallet = '' } = await first.call('GET', '/v2/node/node_info');
  await first.stop();
  seedPayments(join(data, 'sandbox.sqlite'), wallet, { rows });
  const { port, pid, call, stop } = await startSandbox(data, { binary });
  const payer = await newWallet(call);
  const { index = '', invoice = '' } = await call('POST', '/v2/node/create_invoice', {
    amount: '1',
  });
  await call('POST', '/v2/node/pay_invoice', { invoice }, payer);
  await call('PUT', '/v2/node/sync_payments');
  const { offer = '' } = await call('POST', '/v2/node/create_offer', {});
  const { address = '' } = await call('POST', '/v2/node/get_next_unused_address', {});
  const startOnce = () => startOnceMore(binary, join(folder, 'start'));
  return { port, pid, payer, index, invoice, offer, address, call, startOnce, stop };
}

async function startOnceMore(binary: string, data: string): Promise<Measured> {
  const { pid, readyMs, stop } = await startSandbox(data, { binary });
  const cpuMs = cpuTimeMs(pid);
  await stop();
  return { wallMs: readyMs, cpuMs };
}
