import { elapsedMs } from '../../../lib/clock.ts';
import type { ProxyAddress } from '../../../model/proxy-address.ts';
import { boundedLines, boundedText } from './bounded-body.ts';
import { EarlyAgent } from './early-agent.ts';
import { failureOf, RemoteFailure } from './failure.ts';
import {
  type HttpsRequest,
  OWN_CONNECTION,
  openStream,
  type StreamRequest,
} from './https-stream.ts';
import type { RemoteLocation } from './location.ts';
import { Openings } from './openings.ts';
import { SocksAgent } from './socks-agent.ts';

/** The most calls at one place at a time: a slow node must not take all connections of the process. */
const MOST_CALLS = 32;
/** The number of streams open at one place at a time: those of the wallet's feed, and one for each send in progress. */
const MOST_STREAMS = 256;
/** Largest body of an answer that is an error. */
const MOST_ERROR_BYTES = 64 * 1024;
const MOST_LINE_BYTES = 4 * 1024 * 1024;

interface RemoteCall extends HttpsRequest {
  /** Time limit from the call to the last byte of the answer, including the wait for a turn. */
  readonly timeoutMs: number;
  readonly mostBytes: number;
  /** Whether to use a new connection: with a dead pooled one it is not known whether the request was read. */
  readonly ownConnection: boolean;
}

/** An answer whose body was read to its end. */
export interface RemoteAnswer {
  readonly status: number;
  readonly text: string;
  /** The server's clock by its `Date` header, in milliseconds since the epoch; null where it sends none. */
  readonly serverTimeMs: number | null;
}

interface RemoteStream {
  readonly status: number;
  readonly text: () => Promise<string>;
  readonly lines: () => AsyncGenerator<string, void, undefined>;
  /** Ends the stream; must be called in every case. */
  readonly close: () => void;
}

interface OpenAnswer {
  readonly status: number;
  readonly date: string | null;
  readonly body: AsyncIterable<Uint8Array>;
}

interface PlaceStream extends StreamRequest {
  readonly isPrepared?: boolean;
}

/** Connections through the proxy: those that calls share, and one for each request. */
interface Tunnel {
  readonly shared: SocksAgent;
  readonly own: SocksAgent;
}

/**
 * Sends all requests to the node at one place, through the proxy where there is one. It bounds the size of answers, the
 * time and the number of open requests (docs/decisions.md 80), and never follows redirects. All methods throw
 * {@link RemoteFailure}.
 */
export class RemoteEndpoint {
  readonly location: RemoteLocation;
  readonly #calls = new Openings(MOST_CALLS);
  readonly #streams = new Openings(MOST_STREAMS);

  readonly #tunnel: Tunnel | null;
  readonly #early: EarlyAgent;

  constructor(location: RemoteLocation, proxy: ProxyAddress | null = null) {
    this.location = location;
    this.#early = new EarlyAgent(location);
    this.#tunnel = proxy && {
      shared: new SocksAgent(proxy, location.cert, { keepAlive: true }),
      own: new SocksAgent(proxy, location.cert, OWN_CONNECTION),
    };
  }

  call(call: RemoteCall): Promise<RemoteAnswer> {
    return this.#answer(call, boundedText);
  }

  /** A call of which only the first line is read, where the answer is no error. For answers that are streams. */
  firstLine(call: RemoteCall): Promise<RemoteAnswer> {
    return this.#answer(call, async (body, mostBytes) => {
      for await (const line of boundedLines(body, mostBytes)) return line;
      return '';
    });
  }

  async #answer(
    call: RemoteCall,
    read: (body: AsyncIterable<Uint8Array>, mostBytes: number) => Promise<string>,
  ): Promise<RemoteAnswer> {
    const startedMs = elapsedMs();
    const leave = await this.#calls.enter(call.timeoutMs, null);
    const ended = new AbortController();
    const timer = setTimeout(
      () => ended.abort(new RemoteFailure('timeout', false)),
      Math.max(call.timeoutMs - (elapsedMs() - startedMs), 0),
    );
    try {
      const { status, body, date } = await this.#open(call, ended.signal);
      const isOk = status >= 200 && status < 300;
      const mostBytes = isOk ? call.mostBytes : Math.min(MOST_ERROR_BYTES, call.mostBytes);
      const text = await (isOk ? read : boundedText)(body, mostBytes);
      return { status, text, serverTimeMs: timeOf(date) };
    } catch (error) {
      const failure = ended.signal.aborted ? (ended.signal.reason as unknown) : error;
      // Closes the connection, so that the rest of the answer is not read.
      ended.abort(failure);
      throw failureOf(failure);
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  /**
   * Begins to open the connection of a stream that is about to be asked for with `isPrepared`. Nothing is sent. Does
   * nothing through a proxy, where a connection may be slow to close again.
   */
  prepareStream(): void {
    if (this.#tunnel === null && !this.#isUnreachable()) this.#early.prepare();
  }

  async stream({ isPrepared = false, ...request }: PlaceStream): Promise<RemoteStream> {
    const leave = await this.#streams.enter(request.headWithinMs, request.signal);
    try {
      this.#requireWay();
      const agent = this.#tunnel?.own ?? (isPrepared ? this.#early : undefined);
      const message = await openStream(this.location, request, agent);
      return {
        status: message.statusCode ?? 0,
        text: () => boundedText(message, MOST_ERROR_BYTES).catch(rethrow),
        lines: () => guarded(boundedLines(message, MOST_LINE_BYTES)),
        close: () => {
          message.destroy();
          leave();
        },
      };
    } catch (error) {
      leave();
      throw failureOf(error);
    }
  }

  async #open(call: RemoteCall, signal: AbortSignal): Promise<OpenAnswer> {
    this.#requireWay();
    if (this.#tunnel) return this.#openThrough(this.#tunnel, call, signal);
    const { status, body, headers } = await this.#fetch(call, signal);
    return { status, body: body ?? new Blob([]).stream(), date: headers.get('date') };
  }

  /** Opens a request through the proxy, since the runtime's `fetch` knows no SOCKS. */
  async #openThrough(tunnel: Tunnel, call: RemoteCall, signal: AbortSignal): Promise<OpenAnswer> {
    const request = { ...call, signal, headWithinMs: null, silenceMs: null };
    const agent = call.ownConnection ? tunnel.own : tunnel.shared;
    const message = await openStream(this.location, request, agent);
    const status = message.statusCode ?? 0;
    if (status >= 300 && status < 400) throw new RemoteFailure('redirected', false);
    return { status, body: message, date: message.headers.date ?? null };
  }

  /** An onion service can be reached only through a proxy. Its name must not be asked for in the DNS (RFC 7686). */
  #requireWay(): void {
    if (this.#isUnreachable()) throw new RemoteFailure('onion', true);
  }

  #isUnreachable(): boolean {
    return this.#tunnel === null && new URL(this.location.url).hostname.endsWith('.onion');
  }

  #fetch(call: RemoteCall, signal: AbortSignal): Promise<Response> {
    const { url, cert } = this.location;
    return fetch(`${url}${call.path}`, {
      method: call.method,
      signal,
      redirect: 'error',
      // Compressed data could expand beyond the bound, so it is not unpacked.
      decompress: false,
      headers: { ...call.headers, 'accept-encoding': 'identity' },
      ...(call.body === null ? {} : { body: call.body }),
      ...(call.ownConnection ? { keepalive: false } : {}),
      ...(cert === null ? {} : { tls: { ca: cert } }),
    });
  }
}

async function* guarded(
  lines: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<string, void, undefined> {
  try {
    yield* lines;
  } catch (error) {
    rethrow(error);
  }
}

function rethrow(error: unknown): never {
  throw failureOf(error);
}

function timeOf(date: string | null): number | null {
  const ms = date === null ? Number.NaN : Date.parse(date);
  return Number.isNaN(ms) ? null : ms;
}
