import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { codeOf } from '../lib/error-code.ts';

/** How far an attempt had come when it failed. */
export type PostPhase = 'connecting' | 'handshake' | 'waiting';

/** An attempt without an answer. `code` is that of the system or the TLS library; `TIMEOUT` when the time was over. */
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
  /** From the start of the request to the status line. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Posts to the receiver. */
export interface Poster {
  /**
   * Resolves with the status as soon as it is known: whatever follows it, a broken body too, changes nothing
   * (decisions section 11). Rejects with {@link PostFailed}, or with the signal's reason.
   */
  post(request: PostRequest): Promise<number>;
  /** Closes idle connections. */
  close(): void;
}

/** A body is only read so that its connection can be used again: so much of it, and for so long. */
const MOST_BODY_BYTES = 16 * 1024;
const BODY_LIMIT_MS = 1000;
const IDLE_CONNECTIONS = 16;

/**
 * Opens connections to one receiver, by node:http, since all requests by `fetch` share a limit of the process: a
 * receiver that hangs would then hold up the requests to the node. `ca` (PEM) is trusted in place of the system's
 * authorities.
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
    // Errors after the end are of no interest, but must have a listener.
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
    // A connection that is used again: it would keep a listener of every post.
    enter('waiting');
    return;
  }
  socket.once('connect', () => enter(encrypted ? 'handshake' : 'waiting'));
  if (encrypted) socket.once('secureConnect', () => enter('waiting'));
}

/** Reads a short body to its end; ends the connection of a long, slow or broken one. */
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
