import { z } from 'zod';
import { ApiError, isApiError } from '../../model/errors.ts';
import type { RemoteEndpoint } from '../remote/endpoint.ts';
import { failureOf, type RemoteFailure, wasCut } from '../remote/failure.ts';
import { parseJson, readAs } from './answer.ts';
import { brokenError, unreadable } from './broken.ts';
import { anyRefusal, type Certainty } from './certainty.ts';
import { LndRefusal, mayBeRejected, type Opener, refusalError, saysRejected } from './refusal.ts';
import { type Standing, standingByRefusal, standingOf } from './standing.ts';
import { stateShape } from './wire.ts';

/** Options of one call. */
interface CallOptions {
  readonly timeoutMs?: number;
  /** Whether a repeat does no harm. Such a call is sent again when its connection turns out to be dead. */
  readonly harmlessTwice?: boolean;
  /** For calls that move money: tells which answers prove that nothing was done. */
  readonly certainty?: Certainty;
  /** The largest answer, in bytes. */
  readonly mostBytes?: number;
  /** Whether the macaroon is left out, for what LND tells without one. */
  readonly isPublic?: boolean;
  /** Whether the answer is a stream, of which only the first item is read. */
  readonly isStream?: boolean;
}

/** Options of one stream. */
interface StreamOptions {
  /** Lines for which this returns false are skipped unread. For streams of which most lines are not needed. */
  readonly isWanted?: (line: string) => boolean;
  /** For requests that move money; see {@link CallOptions}. */
  readonly certainty?: Certainty;
  /**
   * Time limit for the answer's head. LND sends the head with the first item, so this suits only streams whose first
   * item comes at once.
   */
  readonly headWithinMs?: number;
  /** The longest silence between two items, for streams in which LND is never silent for longer. */
  readonly silenceMs?: number;
}

type StreamMethod = 'GET' | 'POST' | 'DELETE';

const DEFAULT_TIMEOUT_MS = 15_000;
const MIB = 1024 * 1024;
/** The largest answer of a call that reads one thing. */
const MOST_BYTES = MIB;
/** The largest answer of a call that reads a list. */
export const MOST_LIST_BYTES = 16 * MIB;

const refusalShape = z.object({ code: z.number(), message: z.string() });
const streamRefusal = z.object({ error: refusalShape });

/** Where a call goes, and what it is authorized by. */
export interface LndTarget {
  readonly endpoint: RemoteEndpoint;
  /** Called for each request, because a changed grant replaces the macaroon. Null is none. */
  readonly macaroonHex: () => string | null;
}

/** Callbacks around the calls of {@link LndRest}. */
export interface LndEvents {
  /** Called after each call with what it showed of LND. */
  readonly contact?: (standing: Standing) => void;
  /** Called when LND does not accept the macaroon any more. */
  readonly rejected?: () => void;
  /** Who opens the wallet of this LND; its operator if absent. */
  readonly opener?: Opener;
}

/** LND's REST interface with one macaroon. Every method throws {@link ApiError}, as the port `WalletNode` describes. */
export class LndRest {
  readonly #target: () => LndTarget | Promise<LndTarget>;
  readonly #events: LndEvents;

  /**
   * `target` is asked before each call, because the place may change; it throws {@link ApiError} where the macaroon may
   * not be sent.
   */
  constructor(target: LndTarget | (() => Promise<LndTarget>), events: LndEvents = {}) {
    this.#target = typeof target === 'function' ? target : () => target;
    this.#events = events;
  }

  /** Reads one thing. */
  get<T>(path: string, shape: z.ZodType<T>, { timeoutMs = DEFAULT_TIMEOUT_MS } = {}): Promise<T> {
    return this.#call('GET', path, undefined, shape, { harmlessTwice: true, timeoutMs }, false);
  }

  /** Reads the state of LND's wallet, which LND tells without a macaroon. */
  async state({ timeoutMs = DEFAULT_TIMEOUT_MS } = {}): Promise<string> {
    const options = { harmlessTwice: true, isPublic: true, timeoutMs };
    const { state } = await this.#call('GET', '/v1/state', undefined, stateShape, options, false);
    this.#events.contact?.(standingOf(state));
    return state;
  }

  /** Reads a list. */
  list<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    const options = { harmlessTwice: true, mostBytes: MOST_LIST_BYTES };
    return this.#call('GET', path, undefined, shape, options, false);
  }

  /** Reads the first item of a stream, and not the others. Throws `unreadable` for a stream without items. */
  async first<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    const options = { harmlessTwice: true, mostBytes: MOST_LIST_BYTES, isStream: true };
    const item = await this.#call('GET', path, undefined, z.unknown(), options, false);
    const result = z.object({ result: shape });
    return (await this.#item(await this.#target(), 200, item, result, anyRefusal, false)).result;
  }

  /** Changes something. When no answer comes, the error has `outcomeUnknown`, unless nothing was sent. */
  post<T>(path: string, body: unknown, shape: z.ZodType<T>, options: CallOptions = {}): Promise<T> {
    return this.#call('POST', path, body, shape, options, true);
  }

  /** Removes something; a repeat does no harm. */
  delete<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    return this.#call('DELETE', path, undefined, shape, { harmlessTwice: true }, false);
  }

  /**
   * The items of a stream. It returns when LND ends the stream in good order or `signal` aborts, and throws when the
   * stream breaks. LND answers only with the first item, so it is not known when it began to listen.
   */
  async *stream<T>(
    method: StreamMethod,
    path: string,
    body: unknown,
    shape: z.ZodType<T>,
    signal: AbortSignal,
    options: StreamOptions = {},
  ): AsyncGenerator<T, void, undefined> {
    const { certainty = anyRefusal, isWanted = () => true } = options;
    const changes = options.certainty !== undefined;
    const result = z.object({ result: shape });
    let close = (): void => undefined;
    try {
      const target = await this.#target();
      const stream = await target.endpoint.stream({
        method,
        path,
        headers: headersOf(target),
        body: body === undefined ? null : JSON.stringify(body),
        signal,
        headWithinMs: options.headWithinMs ?? null,
        silenceMs: options.silenceMs ?? null,
      });
      close = stream.close;
      const { status } = stream;
      if (status !== 200) {
        throw await this.#refused(
          target,
          { status, text: await stream.text() },
          certainty,
          changes,
        );
      }
      this.#events.contact?.('open');
      for await (const line of stream.lines()) {
        if (!isWanted(line)) continue;
        const item: unknown = parseJson(line, changes);
        yield (await this.#item(target, status, item, result, certainty, changes)).result;
      }
    } catch (error) {
      if (signal.aborted) return;
      throw error instanceof ApiError ? error : this.#broken(failureOf(error), changes);
    } finally {
      close();
    }
  }

  async #call<T>(
    method: string,
    path: string,
    body: unknown,
    shape: z.ZodType<T>,
    options: CallOptions,
    changes: boolean,
  ): Promise<T> {
    const { certainty = anyRefusal, harmlessTwice = false } = options;
    const target = await this.#target();
    const send = () =>
      target.endpoint[options.isStream ? 'firstLine' : 'call']({
        method,
        path,
        headers: options.isPublic ? {} : headersOf(target),
        body: body === undefined ? null : JSON.stringify(body),
        timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        mostBytes: options.mostBytes ?? MOST_BYTES,
        ownConnection: !harmlessTwice,
      });
    try {
      const answer = await send().catch((error: unknown) => {
        // The connection was open since before LND restarted.
        if (harmlessTwice && wasCut(error)) return send();
        throw error;
      });
      const { status, text } = answer;
      if (status < 200 || status > 299) {
        throw await this.#refused(target, { status, text }, certainty, changes);
      }
      this.#events.contact?.('open');
      return readAs(shape, parseJson(text, changes), changes);
    } catch (error) {
      throw error instanceof ApiError ? error : this.#broken(failureOf(error), changes);
    }
  }

  /** Reads an item of a stream. Throws the refusal that stands in its place. */
  async #item<T>(
    target: LndTarget,
    status: number,
    item: unknown,
    shape: z.ZodType<T>,
    certainty: Certainty,
    changes: boolean,
  ): Promise<T> {
    const refusal = streamRefusal.safeParse(item);
    if (refusal.success) throw await this.#refusal(target, status, refusal.data.error, certainty);
    return readAs(shape, item, changes);
  }

  async #refused(
    target: LndTarget,
    { status, text }: { readonly status: number; readonly text: string },
    certainty: Certainty,
    changes: boolean,
  ): Promise<ApiError> {
    let refusal: z.output<typeof refusalShape>;
    try {
      const body: { error?: unknown } = JSON.parse(text);
      refusal = refusalShape.parse(body.error ?? body);
    } catch (cause) {
      // Whatever answered, it was not LND.
      this.#events.contact?.('silent');
      return unreadable(cause, changes);
    }
    return this.#refusal(target, status, refusal, certainty);
  }

  async #refusal(
    target: LndTarget,
    httpStatus: number,
    { code, message }: z.output<typeof refusalShape>,
    certainty: Certainty,
  ): Promise<ApiError> {
    const refusal = new LndRefusal(httpStatus, code, message);
    this.#events.contact?.(standingByRefusal(refusal));
    const rejected = mayBeRejected(refusal) && (await this.#isRejected(target));
    if (rejected) this.#events.rejected?.();
    const { opener } = this.#events;
    return refusalError(refusal, { rejected, outcomeUnknown: !certainty(refusal), opener });
  }

  /**
   * Makes a second call that every macaroon of this program allows. If LND refuses that too, the macaroon is the cause;
   * one error alone may contain the same words for other reasons.
   */
  async #isRejected(target: LndTarget): Promise<boolean> {
    try {
      const { status, text } = await target.endpoint.call({
        method: 'GET',
        path: '/v1/getinfo',
        headers: headersOf(target),
        body: null,
        timeoutMs: DEFAULT_TIMEOUT_MS,
        mostBytes: MOST_BYTES,
        ownConnection: false,
      });
      if (status === 200) return false;
      const { code, message } = refusalShape.parse(JSON.parse(text));
      return saysRejected(new LndRefusal(status, code, message));
    } catch {
      return false;
    }
  }

  #broken(failure: RemoteFailure, changes: boolean): ApiError {
    const { reason } = failure;
    if (reason !== 'aborted') {
      const answered = reason === 'oversized' || reason === 'redirected';
      this.#events.contact?.(answered ? 'open' : 'silent');
    }
    return brokenError(failure, changes && !failure.nothingSent);
  }
}

/** The result of the read, or null when the macaroon may not read it. */
export async function ifAllowed<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (isApiError(error, 'forbidden')) return null;
    throw error;
  }
}

function headersOf({ macaroonHex }: LndTarget): Readonly<Record<string, string>> {
  const hex = macaroonHex();
  return hex === null ? {} : { 'grpc-metadata-macaroon': hex };
}
