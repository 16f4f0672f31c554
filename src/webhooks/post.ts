import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { codeOf } from '../lib/error-code.ts';

/** The phase in which an attempt failed. */
export type PostPhase = 'connecting' | 'handshake' | 'waiting';

/** An attempt without an answer. `code` is of the system or the TLS library, or `TIMEOUT`. */
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

interface PostRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The time limit in milliseconds, from the start of the request to the status line. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

interface PostAnswer {
  readonly httpStatus: number;
  /** The first {@link MOST_SHOWN_BYTES} of the body as text, as far as they came within a second. */
  readonly text: string;
}

/** Sends requests to one receiver. */
export interface Poster {
  /**
   * Sends a POST request. The status decides: what follows, such as a slow or broken body, makes no difference but to
   * the text. Rejects with {@link PostFailed}, or with the signal's reason where no status had come.
   */
  post(request: PostRequest): Promise<PostAnswer>;
  close(): void;
}

/** How much of an answer's body is kept to be shown (docs/decisions.md 127). */
const MOST_SHOWN_BYTES = 4 * 1024;
/** The limits on reading an answer's body, whose rest is read only so that the connection can be used again. */
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

  function post({ body, headers, limitMs, signal }: PostRequest): Promise<PostAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
    if (signal.aborted) return Promise.reject(signal.reason);
    let phase: PostPhase = 'connecting';
    let isAnswered = false;
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
      isAnswered = true;
      const httpStatus = response.statusCode ?? 0;
      const shown = readBody(response, () => request.destroy(), signal);
      void shown.then((text) => resolve({ httpStatus, text }));
    });
    // An error after the answer makes no difference, but without a listener it would end the process.
    request.on('error', (error) => {
      over();
      if (!isAnswered) reject(new PostFailed(phase, codeOf(error), error));
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

/**
 * Reads a short body to its end, and ends the connection of a long, slow or broken one. Resolves to the part to show as
 * soon as that is there, and on an abort at once.
 */
function readBody(
  response: IncomingMessage,
  end: () => void,
  signal: AbortSignal,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const shown: Uint8Array[] = [];
  let bytes = 0;
  const show = () => resolve(textOf(Buffer.concat(shown)));
  const endNow = () => {
    show();
    end();
  };
  const timer = setTimeout(endNow, BODY_LIMIT_MS);
  signal.addEventListener('abort', endNow, { once: true });
  response.on('data', (chunk: Uint8Array) => {
    if (bytes < MOST_SHOWN_BYTES) shown.push(chunk.subarray(0, MOST_SHOWN_BYTES - bytes));
    bytes += chunk.length;
    if (bytes >= MOST_SHOWN_BYTES) show();
    if (bytes > MOST_BODY_BYTES) endNow();
  });
  const over = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', endNow);
    show();
  };
  response.on('error', endNow);
  response.once('end', over);
  response.once('close', over);
  return promise;
}

/** Returns bytes as text. A character that was cut at the end is left out. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
