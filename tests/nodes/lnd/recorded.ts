import type { Clock } from '../../../src/lib/clock.ts';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import { mintMacaroon } from '../../../src/nodes/lnd/words/macaroon.ts';
import type { WalletNode } from '../../../src/nodes/node.ts';
import type { RemoteOptions } from '../../../src/nodes/remote-kind.ts';
import { remoteOptions } from '../../support/remote-options.ts';
import recorded from './recorded/feed.json';
import { refusal, type ScriptedLnd } from './scripted-lnd.ts';

/** What an LND said, see `recorded/feed.json`. */
export const RECORDED = recorded;

/** Shortly after the recording. */
export const RECORDED_AT_MS = Number(recorded.lists.getinfo.best_header_timestamp) * 1000 + 60_000;

/** The streams of the recording. */
export type StreamName = keyof typeof recorded.streams;

const STREAMS: Readonly<Record<StreamName, string>> = {
  invoices: 'GET /v1/invoices/subscribe',
  payments: 'GET /v2/router/payments',
  transactions: 'GET /v1/transactions/subscribe',
  blocks: 'POST /v2/chainnotifier/register/blocks',
};

/** What identifies the newest payment of the recording in a cursor. */
export const RECORDED_NEWEST = newestListed();

function newestListed(): { hash: string; attempt: number } {
  const newest = recorded.lists.payments.payments.at(-1);
  if (newest === undefined) throw new Error('not recorded');
  const { payment_hash: hash, creation_time_ns: ns } = newest;
  return { hash, attempt: Number(BigInt(ns) / 1000n) };
}

/** The recorded LND on a scripted server: its lists from the start, its streams as a test lets them speak. */
export interface ReplayedLnd {
  /** Streams one item of the recording, once the stream was asked for. */
  say(stream: StreamName, item: object): Promise<void>;
  /** Streams one line of any text. */
  sayText(stream: StreamName, line: string): Promise<void>;
  /** Ends a stream, as LND does when it stops. */
  end(stream: StreamName): Promise<void>;
}

/** Lets the scripted server answer as the recorded LND did; `lists` says whether its lists hold anything yet. */
export function replay(lnd: ScriptedLnd, lists: 'full' | 'empty'): ReplayedLnd {
  const { getinfo, invoices, payments, transactions } = recorded.lists;
  lnd.on('GET /v1/getinfo', getinfo);
  lnd.on('GET /v1/invoices?', { invoices: [], last_index_offset: '0' });
  lnd.on('GET /v1/payments?', { payments: [], last_index_offset: '0' });
  lnd.on('GET /v1/transactions?', lists === 'full' ? transactions : { transactions: [] });
  if (lists === 'full') {
    lnd.on('GET /v1/invoices?num_max_invoices=500&index_offset=0', invoices);
    const pages = 'GET /v1/payments?include_incomplete=true&omit_hops=true&max_payments=500';
    lnd.on(`${pages}&index_offset=0`, payments);
    lnd.on(`${pages}&index_offset=1`, { ...payments, payments: payments.payments.slice(1) });
  }
  lnd.on('GET /v1/invoice/', () => refusal(404, 5, 'unable to locate invoice'));
  lnd.on('GET /v2/router/track/', () => refusal(404, 5, "payment isn't initiated"));
  for (const invoice of invoices.invoices) {
    const hash = Buffer.from(invoice.r_hash, 'base64').toString('hex');
    lnd.on(`GET /v1/invoice/${hash}`, invoice);
  }
  const opened = new Map<StreamName, PromiseWithResolvers<ReadableStreamDefaultController>>();
  for (const [name, start] of Object.entries(STREAMS) as [StreamName, string][]) {
    const one = Promise.withResolvers<ReadableStreamDefaultController>();
    opened.set(name, one);
    lnd.on(start, () => new Response(new ReadableStream({ start: one.resolve })));
  }
  const controllerOf = (name: StreamName) => opened.get(name)?.promise;
  const sayText: ReplayedLnd['sayText'] = async (stream, line) => {
    (await controllerOf(stream))?.enqueue(new TextEncoder().encode(`${line}\n`));
  };
  return {
    say: (stream, item) => sayText(stream, JSON.stringify({ result: item })),
    sayText,
    async end(stream) {
      (await controllerOf(stream))?.close();
    },
  };
}

/** The wallet of the recorded node behind the scripted server, by a macaroon that may do what the tests ask. */
export async function recordedWallet(
  lnd: ScriptedLnd,
  clock: Clock = { now: () => RECORDED_AT_MS },
  { elapsedMs }: Pick<RemoteOptions, 'elapsedMs'> = {},
): Promise<WalletNode> {
  const operations = ['info', 'onchain', 'offchain', 'invoices', 'address'] as const;
  const entry = {
    kind: 'lnd' as const,
    url: lnd.url,
    cert: lnd.cert,
    nodePk: recorded.lists.getinfo.identity_pubkey,
    network: 'regtest' as const,
    token: mintMacaroon(
      new Uint8Array(32),
      new Uint8Array(16),
      new Map(operations.map((entity) => [entity, ['read', 'write']])),
    ),
  };
  const connector = openLnd(remoteOptions([entry], { clock, ...(elapsedMs && { elapsedMs }) }));
  return (await connector.connectConfigured(entry)).node;
}
