import { readFile } from 'node:fs/promises';
import { encodeNodeCredentials } from '../../src/model/credentials.ts';
import { CERT, KEY } from '../support/raw-server.ts';
import type { LndNode } from './harness/index.ts';

/** A request that the proxy passed on. */
interface Passed {
  readonly method: string;
  readonly path: string;
  readonly macaroonHex: string | null;
}

/** A proxy between the sidecar and an LND that records the macaroon of each request. */
export interface RecordingProxy {
  /** The credentials that `connect lnd` would print for the node at this place. */
  readonly credentials: string;
  readonly passed: readonly Passed[];
  stop(): Promise<void>;
}

/** Starts the proxy on loopback, with a certificate of its own. */
export async function startRecordingProxy(node: LndNode): Promise<RecordingProxy> {
  const passed: Passed[] = [];
  const ca = await readFile(node.tlsCertPath, 'utf8');
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: CERT, key: KEY },
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const macaroonHex = request.headers.get('grpc-metadata-macaroon');
      passed.push({ method: request.method, path: pathname, macaroonHex });
      const body = await request.text();
      return fetch(`${node.restUrl}${pathname}${search}`, {
        method: request.method,
        ...(body === '' ? {} : { body }),
        headers: macaroonHex === null ? {} : { 'grpc-metadata-macaroon': macaroonHex },
        tls: { ca },
        signal: request.signal,
      }).catch(() => new Response('', { status: 502 }));
    },
  });
  return {
    credentials: encodeNodeCredentials({
      kind: 'lnd',
      url: `https://127.0.0.1:${server.port}`,
      cert: CERT,
      nodePk: node.pubkey,
      network: 'regtest',
      token: (await readFile(node.macaroonPath)).toString('hex'),
    }),
    passed,
    stop: () => server.stop(true),
  };
}
