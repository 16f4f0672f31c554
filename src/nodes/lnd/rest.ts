import { z } from 'zod';
import { ApiError } from '../../model/errors.ts';
import type { LndLocation } from './location.ts';
import { LndRefusal, refusalError } from './refusal.ts';
import { lines, openStream, textOf } from './stream.ts';

/** How one call departs from the usual. */
interface CallOptions {
  readonly timeoutMs?: number;
  /** Whether a lost answer leaves open what LND did. */
  readonly changes?: boolean;
  /** Whether it does no harm when it is done twice: then a connection that died unnoticed is tried anew. */
  readonly harmlessTwice?: boolean;
}

type StreamMethod = 'GET' | 'POST' | 'DELETE';

const DEFAULT_TIMEOUT_MS = 15_000;

const refusalShape = z.object({ code: z.number(), message: z.string() });
const streamRefusal = z.object({ error: refusalShape });

/** What the answers say beyond their content. */
export interface LndEvents {
  /** LND answered, or could not be reached. */
  readonly contact?: (reached: boolean) => void;
  /** LND does not accept the macaroon any more. */
  readonly rejected?: () => void;
}

/** LND's REST interface with one macaroon. Every method throws {@link ApiError}; see the port's doc comment. */
export class LndRest {
  readonly #location: LndLocation;
  readonly #macaroonHex: string | null;
  readonly #events: LndEvents;

  constructor(location: LndLocation, macaroonHex: string | null, events: LndEvents = {}) {
    this.#location = location;
    this.#macaroonHex = macaroonHex;
    this.#events = events;
  }

  /** The same LND with another macaroon, whose rejection concerns nobody else. */
  with(macaroonHex: string): LndRest {
    const { rejected: _, ...events } = this.#events;
    return new LndRest(this.#location, macaroonHex, events);
  }

  /** Reads. */
  get<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    return this.#call('GET', path, undefined, shape, {});
  }

  /** Changes something: when no answer comes, the error says `outcomeUnknown` unless nothing was sent. */
  post<T>(path: string, body: unknown, shape: z.ZodType<T>, options: CallOptions = {}): Promise<T> {
    return this.#call('POST', path, body, shape, { changes: true, ...options });
  }

  /** Removes something; repeating it is harmless. */
  delete<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    return this.#call('DELETE', path, undefined, shape, {});
  }

  /**
   * The items of a stream until LND ends it, cleanly or not, or `signal` aborts; then it ends or throws. The request
   * is answered with the first item only, so nothing tells when LND began to listen. Lines that are not wanted are
   * not even read, for streams of which most is of no interest.
   */
  async *stream<T>(
    method: StreamMethod,
    path: string,
    body: unknown,
    shape: z.ZodType<T>,
    signal: AbortSignal,
    isWanted: (line: string) => boolean = () => true,
  ): AsyncGenerator<T, void, undefined> {
    const changes = method === 'POST';
    const result = z.object({ result: shape });
    try {
      const response = await openStream(this.#location, this.#macaroonHex, {
        method,
        path,
        body,
        signal,
      });
      this.#events.contact?.(true);
      const status = response.statusCode ?? 0;
      if (status !== 200) throw this.#refused(status, await textOf(response));
      for await (const line of lines(response)) {
        if (!isWanted(line)) continue;
        const item: unknown = parseJson(line, changes);
        const refusal = streamRefusal.safeParse(item);
        if (refusal.success) throw this.#refusal(status, refusal.data.error);
        yield readAs(result, item, changes).result;
      }
    } catch (error) {
      if (signal.aborted) return;
      throw error instanceof ApiError ? error : this.#broken(error, changes);
    }
  }

  async #call<T>(
    method: string,
    path: string,
    body: unknown,
    shape: z.ZodType<T>,
    { timeoutMs = DEFAULT_TIMEOUT_MS, changes = false, harmlessTwice = false }: CallOptions,
  ): Promise<T> {
    const send = () =>
      this.#send(method, path, body, AbortSignal.timeout(timeoutMs), changes && !harmlessTwice);
    const response = await send().catch((error) => {
      // LND was restarted since the connection was last used; the runtime repeats reads by itself.
      if (harmlessTwice && isDeadConnection(error)) return send();
      throw error;
    });
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      throw this.#broken(error, changes);
    }
    if (!response.ok) throw this.#refused(response.status, text);
    return readAs(shape, parseJson(text, changes), changes);
  }

  async #send(
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal,
    changes: boolean,
  ): Promise<Response> {
    const { url, cert } = this.#location;
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        signal,
        redirect: 'error',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(this.#macaroonHex === null
          ? {}
          : { headers: { 'grpc-metadata-macaroon': this.#macaroonHex } }),
        ...(cert === null ? {} : { tls: { ca: cert } }),
      });
      this.#events.contact?.(true);
      return response;
    } catch (error) {
      throw this.#broken(error, changes);
    }
  }

  #refused(httpStatus: number, text: string): ApiError {
    try {
      const body: { error?: unknown } = JSON.parse(text);
      return this.#refusal(httpStatus, refusalShape.parse(body.error ?? body));
    } catch (cause) {
      return unreadable(cause, false);
    }
  }

  #refusal(httpStatus: number, { code, message }: z.infer<typeof refusalShape>): ApiError {
    const error = refusalError(new LndRefusal(httpStatus, code, message));
    if (error.kind === 'unauthenticated') this.#events.rejected?.();
    return error;
  }

  #broken(error: unknown, changes: boolean): ApiError {
    const { name, code } = error as { name?: string; code?: string };
    const sent = !NOTHING_SENT.has(code ?? '');
    const outcomeUnknown = changes && sent;
    if (name === 'TimeoutError') {
      return new ApiError('timeout', 'LND did not answer in time: try again.', {
        cause: error,
        outcomeUnknown,
      });
    }
    if (name !== 'AbortError') this.#events.contact?.(false);
    if (CERTIFICATE_REFUSED.has(code ?? '')) {
      return new ApiError(
        'unreachable',
        'The certificate that LND shows is not the one that was given, or is for another host name: check both.',
        { cause: error },
      );
    }
    return new ApiError('unreachable', 'LND cannot be reached: see that it runs and try again.', {
      cause: error,
      outcomeUnknown,
    });
  }
}

/** The other side is not the one whose certificate was given. */
const CERTIFICATE_REFUSED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
]);
function isDeadConnection(error: unknown): boolean {
  const cause = error instanceof ApiError ? error.cause : error;
  return (cause as { code?: string }).code === 'ECONNRESET';
}

/** Failures before a request could leave. */
const NOTHING_SENT: ReadonlySet<string> = new Set([
  ...CERTIFICATE_REFUSED,
  'ConnectionRefused',
  'ECONNREFUSED',
  'ENOTFOUND',
  'FailedToOpenSocket',
]);

function parseJson(text: string, changes: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(error, changes);
  }
}

function readAs<T>(shape: z.ZodType<T>, value: unknown, changes: boolean): T {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  throw unreadable(result.error, changes);
}

function unreadable(cause: unknown, outcomeUnknown: boolean): ApiError {
  return new ApiError('unreadable', 'LND answered something unreadable: check its version.', {
    cause,
    outcomeUnknown,
  });
}
