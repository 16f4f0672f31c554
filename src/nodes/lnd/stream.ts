import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { LndLocation } from './location.ts';

/** Streams stay open for as long as their wallet is followed, so each has a connection of its own. */
const agent = new Agent({ keepAlive: false });

interface StreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/**
 * Sends a request whose answer is a stream; resolves with the answer's head, which LND sends with the first item. Not
 * by `fetch`: the runtime bounds how many of those a process may have open, and streams of many wallets would leave
 * nothing for calls and webhooks.
 */
export function openStream(
  { url, cert }: LndLocation,
  macaroonHex: string | null,
  { method, path, body, signal }: StreamRequest,
): Promise<IncomingMessage> {
  const text = body === undefined ? '' : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, {
      method,
      agent,
      signal,
      headers: {
        'content-length': Buffer.byteLength(text),
        ...(macaroonHex === null ? {} : { 'grpc-metadata-macaroon': macaroonHex }),
      },
      ...(cert === null ? {} : { ca: cert }),
    });
    sent.once('response', resolve);
    sent.on('error', reject);
    sent.end(text);
  });
}

/** The lines of a stream as they come, without the empty ones. */
export async function* lines(message: IncomingMessage): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of message) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    const complete = rest.split('\n');
    rest = complete.pop() ?? '';
    yield* complete.filter((line) => line !== '');
  }
  // An answer that is no stream, such as a refusal, ends without a line end.
  if (rest !== '') yield rest;
}

/** The whole body of an answer. */
export async function textOf(message: IncomingMessage): Promise<string> {
  return (await Array.fromAsync(lines(message))).join('\n');
}
