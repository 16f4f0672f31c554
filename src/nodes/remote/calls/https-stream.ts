import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { RemoteFailure } from './failure.ts';
import type { RemoteLocation } from './location.ts';

/** A stream stays open as long as its wallet is followed, so each has a connection of its own. */
export const OWN_CONNECTION = { keepAlive: false };

/**
 * After so long without a byte the system asks whether the other side is still there. So a stream ends whose node lost
 * its power, and no router on the way forgets one that is silent (docs/decisions.md 176).
 */
const PROBED_AFTER_MS = 30_000;

const direct = new Agent(OWN_CONNECTION);

/** One request. */
export interface HttpsRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, or null for none. */
  readonly body: string | null;
}

/** A request whose answer is a stream. */
export interface StreamRequest extends HttpsRequest {
  readonly signal: AbortSignal;
  /** Time limit for the answer's head; null is no limit, for nodes that send the head with the first item. */
  readonly headWithinMs: number | null;
  /** The longest silence within the answer; null is no limit, where silence is usual. */
  readonly silenceMs: number | null;
}

/**
 * Sends the request, over connections of `agent`, and resolves with the answer's head. Redirects are returned like
 * other answers, never followed. It does not use `fetch`: the runtime bounds how many of those a process may have open,
 * and streams of many wallets would leave none for calls and webhooks (docs/decisions.md 80).
 */
export function openStream(
  { url, cert }: RemoteLocation,
  { method, path, headers, body, signal, headWithinMs, silenceMs }: StreamRequest,
  agent: Agent = direct,
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
    sent.once('socket', (socket) => socket.setKeepAlive(true, PROBED_AFTER_MS));
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
  // The listener above starts the flow; pausing it leaves the first bytes to the consumer.
  message.pause();
}
