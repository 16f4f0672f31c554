import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { endToEnd } from './headers.ts';

/** A request to another sidecar. */
export interface SentRequest {
  readonly method: string;
  /** The path with the query. */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | null;
  /**
   * Whether the request may be sent twice. Only then a kept connection is used: where that one turns out to be closed,
   * nobody knows whether the request was read.
   */
  readonly mayRepeat: boolean;
}

/**
 * How a request to another sidecar ended. `not_sent`: no connection was made, so it had no effect. `cut`: the
 * connection broke after that, so nobody knows.
 */
export type Sent =
  | { readonly kind: 'answered'; readonly answer: PeerAnswer }
  | { readonly kind: 'not_sent' | 'cut' };

/** An answer of another sidecar. */
export interface PeerAnswer {
  readonly status: number;
  /** All of them, those of the connection too. */
  readonly headers: Headers;
  /** Whole, but for a stream of events or rows, which is read as it comes. */
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Resolves when nothing more comes. */
  readonly ended: Promise<void>;
}

/** Sends requests to other sidecars. */
export interface PeerSender {
  /**
   * Sends a request once, and never again by itself. Rejects with the reason of `gone` when the caller went away. When
   * `over` aborts, the request ends as if its connection broke; so does a stream that is being read.
   */
  send(
    url: string,
    request: SentRequest,
    ends: { readonly gone: AbortSignal; readonly over: AbortSignal },
  ): Promise<Sent>;
  close(): void;
}

const KEPT_CONNECTIONS = 64;

/**
 * Opens a sender. It uses node:http: the runtime's `fetch` repeats some requests by itself, and bounds how many a
 * process may have open, while waits and streams are many.
 */
export function openPeerSender(): PeerSender {
  const kept = { keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS };
  const own = { keepAlive: false };
  const http = { kept: new HttpAgent(kept), own: new HttpAgent(own), start: httpRequest };
  const https = { kept: new HttpsAgent(kept), own: new HttpsAgent(own), start: httpsRequest };

  return {
    send(url, { method, target, headers, body, mayRepeat }, { gone, over }) {
      const { promise, resolve, reject } = Promise.withResolvers<Sent>();
      if (gone.aborted) return Promise.reject(gone.reason);
      const { start, kept: shared, own: single } = url.startsWith('https:') ? https : http;
      let isConnected = false;
      const request = start(`${url}${target}`, {
        method,
        agent: mayRepeat ? shared : single,
        headers: Object.fromEntries(headers),
      });
      const end = (give: () => void) => {
        give();
        forget();
        request.destroy();
      };
      const broken = () => end(() => resolve({ kind: isConnected ? 'cut' : 'not_sent' }));
      const onGone = () => end(() => reject(gone.reason));
      const forget = () => {
        gone.removeEventListener('abort', onGone);
        over.removeEventListener('abort', broken);
      };
      gone.addEventListener('abort', onGone, { once: true });
      over.addEventListener('abort', broken, { once: true });
      request.once('socket', (socket) => {
        whenConnected(socket, () => {
          isConnected = true;
        });
      });
      // Without a listener an error after the answer would end the process.
      request.on('error', broken);
      request.once('response', (message) => {
        if (isStream(message)) {
          forget();
          const stream = streamOf(message, AbortSignal.any([gone, over]));
          resolve(answered(message, stream));
          return;
        }
        const chunks: Uint8Array[] = [];
        message.on('data', (chunk: Uint8Array) => void chunks.push(chunk));
        message.on('error', broken);
        message.once('close', () => {
          if (!message.complete) return broken();
          forget();
          resolve(answered(message, new Uint8Array(Buffer.concat(chunks))));
        });
      });
      if (over.aborted) broken();
      else request.end(body ?? undefined);
      return promise;
    },
    close() {
      for (const { kept, own } of [http, https]) {
        kept.destroy();
        own.destroy();
      }
    },
  };
}

function whenConnected(socket: Socket, connected: () => void): void {
  // A kept connection is established, and each listener would stay on it.
  if (!socket.connecting) connected();
  else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', connected);
}

function answered(message: IncomingMessage, body: PeerAnswer['body']): Sent {
  const headers = new Headers();
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at] ?? '', message.rawHeaders[at + 1] ?? '');
  }
  const ended = message.closed
    ? Promise.resolve()
    : new Promise<void>((resolve) => void message.once('close', resolve));
  return { kind: 'answered', answer: { status: message.statusCode ?? 502, headers, body, ended } };
}

const EVENTS = 'text/event-stream';
/** Media types of answers that are made while they are read. */
const STREAMS = [EVENTS, 'application/x-ndjson', 'text/csv'];

function isStream(message: IncomingMessage): boolean {
  return message.statusCode === 200 && STREAMS.some((type) => isOfType(message, type));
}

function isOfType({ headers }: IncomingMessage, mediaType: string): boolean {
  return headers['content-type']?.startsWith(mediaType) === true;
}

/**
 * Returns the body as it comes. It is read no faster than its reader takes it, and ends when the connection breaks or
 * `ended` aborts: readers of event streams come back, and the runtime would log a body that breaks as an error. Rows
 * break with it, since what was cut off must not look whole.
 */
function streamOf(
  message: IncomingMessage,
  ended: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = message[Symbol.asyncIterator]();
  const stop = () => message.destroy();
  ended.addEventListener('abort', stop, { once: true });
  // Without a listener an error that comes while nobody reads would end the process.
  message.on('error', () => undefined);
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next().catch(() => ({ value: null, done: true }));
      if (!done) return controller.enqueue(new Uint8Array(value as Uint8Array));
      ended.removeEventListener('abort', stop);
      if (message.complete || isOfType(message, EVENTS)) controller.close();
      else controller.error(new Error('The rows of another sidecar broke off.'));
    },
    cancel() {
      ended.removeEventListener('abort', stop);
      message.destroy();
    },
  });
}

/** Returns the answer for the caller: without the headers of the connection that it came by. */
export function answerOf({ status, headers, body }: PeerAnswer): Response {
  const kept = endToEnd(headers);
  const isEmpty = status === 204 || status === 304 || (body instanceof Uint8Array && !body.length);
  return new Response(isEmpty ? null : body, { status, headers: kept });
}
