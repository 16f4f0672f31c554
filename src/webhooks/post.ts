import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { codeOf } from '../lib/error-code.ts';

/** The phase in which an attempt failed. */
export type PostPhase = 'connecting' | 'handshake' | 'waiting';

/**
 * Thrown for an attempt without an answer. `code` is the error code of the system or the TLS library, or `TIMEOUT` when
 * the time limit passed.
 */
export class PostFailed extends Error {
  override readonly name = 'PostFailed';
  constructor(
    readonly phase: PostPhase,
    readonly code: string,
    cause?: unknown,
  ) {
    super(`${phase}: ${code}`, { cause });
  }
}

/** One request to the receiver. */
interface PostRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The time limit in milliseconds, from the start of the request to the status line. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Sends requests to one receiver. */
export interface Poster {
  /**
   * Sends a POST request. Resolves with the status as soon as it is known: what follows, such as a broken body, makes
   * no difference. Rejects with {@link PostFailed}, or with the signal's reason.
   */
  post(request: PostRequest): Promise<number>;
  /** Closes idle connections. */
  close(): void;
}

/** The limits on reading an answer's body, which is read only so that the connection can be used again. */
const MOST_BODY_BYTES = 16 * 1024;
const BODY_LIMIT_MS = 1000;
const IDLE_CONNECTIONS = 16;

/**
 * Creates a sender to one receiver with connections of its own. It uses node:http because all requests by `fetch` share
 * one limit of the process, so a receiver that hangs would delay requests to the node (docs/decisions.md 92). `ca`
 * (PEM) is trusted instead of the system's authorities.
 */
export function openPoster(url: string, ca?: string): Poster {
  const settings = { keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS };
  const agent = url.startsWith('https:')
    ? new HttpsAgent({ ...settings, ...(ca === undefined ? {} : { ca }) })
    : new HttpAgent(settings);
  const start = url.startsWith('https:') ? httpsRequest : httpRequest;

  function post({ body, headers, limitMs, signal }: PostRequest): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    if (signal.aborted) return Promise.reject(signal.reason);
    let phase: PostPhase = 'connecting';
    const request = start(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    });
    const give = (error: unknown) => {
      reject(error);
      request.destroy();
    };
    const onAbort = () => give(signal.reason);
    const timer = setTimeout(() => give(new PostFailed(phase, 'TIMEOUT')), limitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    request.once('socket', (socket) => {
      followPhase(socket, (next) => {
        phase = next;
      });
    });
    request.once('response', (response) => {
      over();
      resolve(response.statusCode ?? 0);
      discard(response, () => request.destroy());
    });
    // An error after the answer makes no difference, but without a listener it would end the process.
    request.on('error', (error) => {
      over();
      reject(new PostFailed(phase, codeOf(error), error));
    });
    request.end(body);
    return promise;
  }
  return { post, close: () => agent.destroy() };
}

function followPhase(socket: Socket, enter: (phase: PostPhase) => void): void {
  const encrypted = socket instanceof TLSSocket;
  if (!socket.connecting) {
    // The connection is reused: it is established, and each listener would stay on it.
    enter('waiting');
    return;
  }
  socket.once('connect', () => enter(encrypted ? 'handshake' : 'waiting'));
  if (encrypted) socket.once('secureConnect', () => enter('waiting'));
}

/** Reads a short body to its end. Ends the connection of a long, slow or broken one. */
function discard(response: IncomingMessage, end: () => void): void {
  let bytes = 0;
  const timer = setTimeout(end, BODY_LIMIT_MS);
  response.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) end();
  });
  response.on('error', end);
  response.once('close', () => clearTimeout(timer));
}
