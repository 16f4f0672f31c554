import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { CERT, KEY } from '../../support/raw-server.ts';

/** A request that the server received. */
export interface Got {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly macaroon: string | null;
  readonly body: Record<string, unknown>;
}

type Answer = (got: Got) => Response | Promise<Response>;

/** An HTTPS server that answers what a test sets. It proves nothing about LND itself. */
export interface ScriptedLnd {
  readonly url: string;
  readonly cert: string;
  readonly requests: Got[];
  /** Sets the answer for requests whose method and path begin with `start`; later settings win. */
  on(start: string, answer: Answer | object): void;
  /** Forgets all requests and answers. */
  reset(): void;
  stop(): void;
}

/** An error in LND's form. */
export const refusal = (status: number, code: number, message: string) =>
  Response.json({ code, message, details: [] }, { status });

/** Starts the server. */
export function scriptedLnd(): ScriptedLnd {
  const requests: Got[] = [];
  let answers: [string, Answer][] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: CERT, key: KEY },
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const text = await request.text();
      const got: Got = {
        method: request.method,
        path: pathname + search,
        macaroon: request.headers.get('grpc-metadata-macaroon'),
        body: text === '' ? {} : JSON.parse(text),
      };
      requests.push(got);
      const found = answers.findLast(([start]) => `${got.method} ${got.path}`.startsWith(start));
      return found ? found[1](got) : refusal(404, 5, 'Not Found');
    },
  });
  return {
    url: `https://127.0.0.1:${server.port}`,
    cert: CERT,
    requests,
    on(start, answer) {
      const say = typeof answer === 'function' ? (answer as Answer) : () => Response.json(answer);
      answers.push([start, say]);
    },
    reset() {
      requests.length = 0;
      answers = [];
    },
    stop: () => void server.stop(true),
  };
}

/** An answer of getinfo. */
export const infoOf = (nodePk: string, change: object = {}) => ({
  version: '0.21.2-beta',
  commit_hash: 'c0ffee',
  identity_pubkey: nodePk,
  block_height: 3000,
  best_header_timestamp: '1800000000',
  synced_to_chain: true,
  num_pending_channels: 0,
  chains: [{ network: 'regtest' }],
  ...change,
});

const ALPHABET = 'ybndrfg8ejkmcpqxot1uwisza345h769';

/** A node's key, with the answers of its `signmessage`. */
export function nodeKey(fill: number) {
  const secret = new Uint8Array(32).fill(fill);
  return {
    pk: Buffer.from(secp256k1.getPublicKey(secret, true)).toString('hex'),
    signMessage(base64: unknown): { signature: string } {
      const message = Buffer.concat([
        Buffer.from('Lightning Signed Message:'),
        Buffer.from(String(base64), 'base64'),
      ]);
      const digest = sha256(sha256(message));
      const signature = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' });
      const compact = Uint8Array.from(signature);
      compact[0] = (compact[0] ?? 0) + 31;
      const bits = [...compact].map((byte) => byte.toString(2).padStart(8, '0')).join('');
      const digits = bits.match(/.{5}/g) ?? [];
      return { signature: digits.map((five) => ALPHABET[Number.parseInt(five, 2)]).join('') };
    },
  };
}
