import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { RemoteFailure } from './failure.ts';
import type { RemoteLocation } from './location.ts';

/** Streams stay open for as long as their wallet is followed, so each has a connection of its own. */
const agent = new Agent({ keepAlive: false });

/** A request whose answer is a stream. */
export interface StreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, or null for none. */
  readonly body: string | null;
  readonly signal: AbortSignal;
  /** The answer's head must be there within this time; null waits, where a node sends it with the first item only. */
  readonly headWithinMs: number | null;
  /** The longest silence within the answer; null where silence is usual. */
  readonly silenceMs: number | null;
}

/**
 * Sends the request and resolves with the answer's head. Redirects are answers like others, never followed. Not by
 * `fetch`: the runtime bounds how many of those a process may have open, and streams of many wallets would leave
 * nothing for calls and webhooks.
 */
export function openStream(
  { url, cert }: RemoteLocation,
  { method, path, headers, body, signal, headWithinMs, silenceMs }: StreamRequest,
): Promise<IncomingMessage> {
  const text = body ?? '';
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, {
      method,
      agent,
      signal,
      headers: { ...headers, 'content-length': Buffer.byteLength(text) },
      ...(cert === null ? {} : { ca: cert }),
    });
    const tooLate = () => {
      reject(new RemoteFailure('timeout', false));
      sent.destroy();
    };
    const head = headWithinMs === null ? null : setTimeout(tooLate, headWithinMs);
    sent.once('response', (message) => {
      if (head !== null) clearTimeout(head);
      if (silenceMs !== null) endWhenSilent(message, silenceMs);
      resolve(message);
    });
    sent.on('error', (error) => {
      if (head !== null) clearTimeout(head);
      reject(error);
    });
    sent.end(text);
  });
}

function endWhenSilent(message: IncomingMessage, silenceMs: number): void {
  const timer = setTimeout(() => message.destroy(new RemoteFailure('timeout', false)), silenceMs);
  message.on('data', () => timer.refresh());
  message.once('close', () => clearTimeout(timer));
  // Reading begins with the consumer, not with the listener above.
  message.pause();
}
