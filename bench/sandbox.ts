import { BINARY } from '../tests/support/binary.ts';
import { freePort } from '../tests/support/ports.ts';
import { running } from './floors.ts';
import { type LoadRequest, type LoadResult, load } from './load.ts';
import { setting } from './settings.ts';

/** Connections on which rates are measured, unless a figure says otherwise. */
export const CONNECTIONS = 16;

/** How often a sync that was cut off is asked for again. */
const MOST_SYNCS = 20;

/** An answer in JSON; most fields are text. */
export type Answer = Readonly<Record<string, string>>;
/** Calls a sidecar, `as` with credentials. Throws for every answer but 2xx. */
export type Call = (method: string, path: string, body?: unknown, as?: string) => Promise<Answer>;

/** A compiled sidecar on the sandbox node, which runs until it is stopped. */
export interface Sandbox {
  readonly port: number;
  readonly pid: number;
  /** Milliseconds from its start to its first healthy answer. */
  readonly readyMs: number;
  readonly call: Call;
  readonly stop: () => Promise<void>;
}

/** Starts a sidecar with its data in that folder. */
export async function startSandbox(
  data: string,
  { binary = BINARY, flags = [] }: { readonly binary?: string; readonly flags?: string[] } = {},
): Promise<Sandbox> {
  const port = freePort();
  const command = [
    ...[binary, 'dev', '--data-dir', data, '--listen-addr', `127.0.0.1:${port}`],
    ...['--log-level', 'error', ...flags],
  ];
  const process = await running(command, port, '/v2/health');
  return { port, ...process, call: (...request) => callOn(port, ...request) };
}

/**
 * Brings all payments of the default wallet into the cache. On a busy machine a sync of a million payments lost its
 * connection after some minutes, so it is asked for again, until it answers; it goes on where it was.
 */
export async function syncPayments(call: Call): Promise<void> {
  for (let round = 0; ; round++) {
    try {
      await call('PUT', '/v2/node/sync_payments');
      return;
    } catch (error) {
      const isCut =
        error instanceof TypeError || (error as { code?: string }).code === 'ECONNRESET';
      if (!isCut || round === MOST_SYNCS) throw error;
    }
  }
}

/** Makes another wallet on the sandbox, and returns its credentials. */
export async function newWallet(call: Call): Promise<string> {
  return (await call('POST', '/sandbox/wallets', {})).client_credentials ?? '';
}

/** What every invoice of the measures is for; with it a payment is of about 1 kB. */
export const TERMS = { amount: '1', description: 'order 4711 of a customer of the shop' };

/** Makes an invoice of the default wallet and pays it from the wallet with these credentials. */
export async function makePair(call: Call, payer: string): Promise<Answer> {
  const { invoice = '', index = '' } = await call('POST', '/v2/node/create_invoice', TERMS);
  await call('POST', '/v2/node/pay_invoice', { invoice, personal_note: 'paid at once' }, payer);
  return { invoice, index };
}

/** A request of that kind with JSON. */
export const post = (path: string, body: unknown, as?: string): LoadRequest => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
  ...(as === undefined ? {} : { headers: { authorization: `Bearer ${as}` } }),
});

/** Measures how often a request is answered, or several of a kind in turn. */
export function rateOf(
  port: number,
  request: LoadRequest,
  connections = CONNECTIONS,
  others: readonly LoadRequest[] = [],
): Promise<LoadResult> {
  const all = [request, ...others];
  let sent = 0;
  const next = () => all[sent++ % all.length] ?? request;
  return load({ port, connections, ms: setting('BENCH_MS'), next });
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
