import { readFileSync } from 'node:fs';
import { findBinaries, type LndNode, startNetwork } from '../interop/harness/index.ts';
import { connectLnd, startLndSidecar } from '../interop/lnd-sidecar.ts';

/** The time that the sidecar adds to a call of LND: medians of calls that are made in turn. */
export interface AddedLatency {
  readonly call: string;
  readonly directMs: number;
  readonly throughSidecarMs: number;
}

const ROUNDS = 400;

/** Measures against a real LND that it starts. Returns null, and prints a clear line, if lnd or btcd is missing. */
export async function measureAddedLatency(): Promise<{
  readonly version: string;
  readonly added: readonly AddedLatency[];
} | null> {
  const [binaries] = findBinaries();
  if (binaries === undefined) return null;
  const network = await startNetwork(binaries);
  try {
    const { alice } = network;
    const sidecar = await startLndSidecar([
      '--client-credentials',
      await connectLnd(alice),
      '--log-level',
      'error',
    ]);
    const direct = directCalls(alice);
    const call = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(`${sidecar.baseUrl}${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      if (!response.ok) throw new Error(await response.text());
      await response.text();
    };
    try {
      return {
        version: alice.version.split(' ')[0] ?? alice.version,
        added: [
          await compare('node_info', direct.nodeInfo, () => call('GET', '/v2/node/node_info')),
          await compare('create_invoice', direct.createInvoice, () =>
            call('POST', '/v2/node/create_invoice', { amount: '1' }),
          ),
        ],
      };
    } finally {
      await sidecar.close();
    }
  } finally {
    await network.stop();
  }
}

/** Returns the calls that the sidecar makes to LND, made without the sidecar. */
function directCalls(node: LndNode) {
  const macaroon = readFileSync(node.macaroonPath).toString('hex');
  const ca = readFileSync(node.tlsCertPath, 'utf8');
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${node.restUrl}${path}`, {
      method,
      headers: { 'grpc-metadata-macaroon': macaroon },
      tls: { ca },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.text();
  };
  return {
    nodeInfo: () =>
      Promise.all([
        send('GET', '/v1/getinfo'),
        send('GET', '/v1/balance/blockchain'),
        send('GET', '/v1/channels'),
        send('GET', '/v1/channels/pending'),
      ]),
    createInvoice: () => send('POST', '/v1/invoices', { value_msat: '1000', private: true }),
  };
}

async function compare(
  call: string,
  direct: () => Promise<unknown>,
  throughSidecar: () => Promise<unknown>,
): Promise<AddedLatency> {
  const times: { direct: number[]; sidecar: number[] } = { direct: [], sidecar: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.direct.push(await timed(direct));
    times.sidecar.push(await timed(throughSidecar));
  }
  // The first calls open connections, so they are not measured.
  return {
    call,
    directMs: median(times.direct.slice(20)),
    throughSidecarMs: median(times.sidecar.slice(20)),
  };
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
