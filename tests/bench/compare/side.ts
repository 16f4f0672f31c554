import { join } from 'node:path';
import { freePort } from '../../support/ports.ts';
import { cpuTimeMs } from '../cpu-time.ts';
import { running } from '../floors.ts';
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
  readonly call: (method: string, path: string, body?: unknown, as?: string) => Promise<Answer>;
  /** Starts another process of the build over data of its own, and stops it after its first healthy answer. */
  readonly startOnce: () => Promise<Measured>;
  readonly stop: () => Promise<void>;
}

type Answer = Readonly<Record<string, string>>;

/** Starts a build with `rows` finished payments in its wallet. */
export async function startSide(binary: string, folder: string, rows: number): Promise<Side> {
  const port = freePort();
  const data = join(folder, 'data');
  const call: Side['call'] = (...request) => callOn(port, ...request);
  const first = await running(commandOf(binary, data, port), port, '/v2/health');
  const { user_pk: wallet = '' } = await call('GET', '/v2/node/node_info');
  await first.stop();
  seedPayments(join(data, 'sandbox.sqlite'), wallet, rows);
  const sidecar = await running(commandOf(binary, data, port), port, '/v2/health');
  const { client_credentials: payer = '' } = await call('POST', '/sandbox/wallets', {});
  const { index = '', invoice = '' } = await call('POST', '/v2/node/create_invoice', {
    amount: '1',
  });
  await call('POST', '/v2/node/pay_invoice', { invoice }, payer);
  await call('PUT', '/v2/node/sync_payments');
  const { offer = '' } = await call('POST', '/v2/node/create_offer', {});
  const { pid, stop } = sidecar;
  const startOnce = () => startOnceMore(binary, join(folder, 'start'));
  return { port, pid, payer, index, invoice, offer, call, startOnce, stop };
}

async function startOnceMore(binary: string, data: string): Promise<Measured> {
  const port = freePort();
  const { pid, readyMs, stop } = await running(commandOf(binary, data, port), port, '/v2/health');
  const cpuMs = cpuTimeMs(pid);
  await stop();
  return { wallMs: readyMs, cpuMs };
}

function commandOf(binary: string, data: string, port: number): string[] {
  const address = `127.0.0.1:${port}`;
  return [binary, 'dev', '--data-dir', data, '--listen-addr', address, '--log-level', 'error'];
}

async function callOn(
  port: number,
  method: string,
  path: string,
  body?: unknown,
  as?: string,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answer;
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
}
