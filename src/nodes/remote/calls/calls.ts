import type { z } from 'zod';
import { ApiError } from '../../../model/errors.ts';
import { parseJson, readAs } from './answer.ts';
import { brokenError, unreadable } from './broken.ts';
import type { RemoteAnswer, RemoteEndpoint } from './endpoint.ts';
import { failureOf, wasCut } from './failure.ts';
import type { Standing } from './standing.ts';

const DEFAULT_TIMEOUT_MS = 15_000;
const MIB = 1024 * 1024;
const MOST_BYTES = MIB;
/** The largest answer of a call that reads a list. */
export const MOST_LIST_BYTES = 16 * MIB;

/** Where a call goes, and what it is authorized by. */
export interface RemoteTarget {
  readonly endpoint: RemoteEndpoint;
  /** Called for each request, because a changed grant replaces the token. Null is none. */
  readonly token: () => string | null;
}

/** Callbacks around calls. */
export interface RemoteEvents {
  /** Called after each call with what it showed of the node. */
  readonly contact?: (standing: Standing) => void;
  /** Called when the node does not accept the token any more. */
  readonly rejected?: () => void;
}

/** How nodes of one kind are spoken to. */
export interface RemoteWire {
  /** What people call a node of the kind. */
  readonly title: string;
  /** The headers of a request, with the token; null is none. */
  readonly headers: (token: string | null) => Readonly<Record<string, string>>;
}

/** One request. */
export interface RemoteRequest {
  readonly method: string;
  readonly path: string;
  /** What is sent as JSON; absent: nothing. */
  readonly body?: unknown;
  /** Whether the request may change something, so that without an answer its outcome is unknown. */
  readonly changes: boolean;
  /** Whether a repeat does no harm. Such a request is sent again when its connection turns out to be dead. */
  readonly harmlessTwice?: boolean;
  readonly timeoutMs?: number;
  /** The largest answer, in bytes. */
  readonly mostBytes?: number;
  /** Whether the token is left out, for what the node tells without one. */
  readonly isPublic?: boolean;
  /** Whether the answer is a stream, of which only the first line is read. */
  readonly isStream?: boolean;
}

interface LongRequest extends Pick<RemoteRequest, 'method' | 'path' | 'body' | 'changes'> {
  readonly isPrepared?: boolean;
}

type ReadRefusal = (
  answer: Pick<RemoteAnswer, 'status' | 'text'>,
  target: RemoteTarget,
) => Promise<ApiError>;

/** Calls of a node with one token, whatever its kind. */
export class RemoteCalls {
  readonly #wire: RemoteWire;
  readonly #target: () => RemoteTarget | Promise<RemoteTarget>;
  readonly #events: RemoteEvents;

  /** `target` is asked before each call; it throws {@link ApiError} where the token may not be sent. */
  constructor(
    wire: RemoteWire,
    target: RemoteTarget | (() => Promise<RemoteTarget>),
    events: RemoteEvents,
  ) {
    this.#wire = wire;
    this.#target = typeof target === 'function' ? target : () => target;
    this.#events = events;
  }

  /** Where the next call goes. */
  async target(): Promise<RemoteTarget> {
    return this.#target();
  }

  headers(target: RemoteTarget): Readonly<Record<string, string>> {
    return this.#wire.headers(target.token());
  }

  /** Opens the connection of a request that follows with `isPrepared`; a failure shows in that request. */
  prepareStream(): void {
    Promise.resolve()
      .then(() => this.#target())
      .then(({ endpoint }) => endpoint.prepareStream())
      .catch(() => undefined);
  }

  /**
   * Sends the request and reads the answer by its shape. Throws what `refused` makes of an answer that is an error; and
   * {@link ApiError} where there is no answer, or one that cannot be read, with `outcomeUnknown` if the request may
   * have changed something.
   */
  async call<T>(request: RemoteRequest, shape: z.ZodType<T>, refused: ReadRefusal): Promise<T> {
    const target = await this.#target();
    try {
      const answer = await this.send(target, request);
      if (!isOk(answer)) throw await refused(answer, target);
      return this.#read(answer, shape, request.changes);
    } catch (error) {
      throw this.broken(error, request.changes);
    }
  }

  /**
   * Does what {@link call} does for a request whose answer may take any time: over a connection of its own, until
   * `signal` aborts, and with an answer of at most some KiB. It is not repeated.
   */
  async callLong<T>(
    request: LongRequest,
    shape: z.ZodType<T>,
    refused: ReadRefusal,
    signal: AbortSignal,
  ): Promise<T> {
    const { method, path, body, changes, isPrepared = false } = request;
    const target = await this.#target();
    let close = (): void => undefined;
    try {
      const stream = await target.endpoint.stream({
        method,
        path,
        headers: this.headers(target),
        body: body === undefined ? null : JSON.stringify(body),
        signal,
        headWithinMs: null,
        silenceMs: null,
        isPrepared,
      });
      close = stream.close;
      const answer = { status: stream.status, text: await stream.text() };
      if (!isOk(answer)) throw await refused(answer, target);
      return this.#read(answer, shape, changes);
    } catch (error) {
      throw this.broken(error, changes);
    } finally {
      close();
    }
  }

  /** Sends the request and returns the answer as it is. Throws `RemoteFailure`. */
  async send(target: RemoteTarget, request: RemoteRequest): Promise<RemoteAnswer> {
    const { method, path, body, harmlessTwice = false } = request;
    const once = () =>
      target.endpoint[request.isStream ? 'firstLine' : 'call']({
        method,
        path,
        headers: request.isPublic ? this.#wire.headers(null) : this.headers(target),
        body: body === undefined ? null : JSON.stringify(body),
        timeoutMs: request.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        mostBytes: request.mostBytes ?? MOST_BYTES,
        ownConnection: !harmlessTwice,
      });
    return once().catch((error: unknown) => {
      // The connection was open since before the node restarted.
      if (harmlessTwice && wasCut(error)) return once();
      throw error;
    });
  }

  /** Reads JSON of the node. Throws `unreadable`. */
  parse(text: string, changes: boolean): unknown {
    return parseJson(this.#wire.title, text, changes);
  }

  /** Reads a part of an answer by its shape. Throws `unreadable`. */
  read<T>(shape: z.ZodType<T>, value: unknown, changes: boolean): T {
    return readAs(this.#wire.title, shape, value, changes);
  }

  /** Tells what a contact showed of the node. */
  contact(standing: Standing): void {
    this.#events.contact?.(standing);
  }

  /** Tells that the node does not accept the token any more. */
  rejected(): void {
    this.#events.rejected?.();
  }

  /** The error for an answer that did not come from the node, such as a proxy's page. */
  foreign(cause: unknown, changes: boolean): ApiError {
    this.contact('silent');
    return unreadable(this.#wire.title, cause, changes);
  }

  broken(error: unknown, changes: boolean): ApiError {
    if (error instanceof ApiError) return error;
    const failure = failureOf(error);
    const { reason, nothingSent } = failure;
    if (reason !== 'aborted') {
      const answered = reason === 'oversized' || reason === 'redirected';
      this.contact(answered ? 'open' : 'silent');
    }
    return brokenError(this.#wire.title, failure, changes && !nothingSent);
  }

  /** Reads an answer that is no error, and tells that the node serves. */
  #read<T>({ text }: Pick<RemoteAnswer, 'text'>, shape: z.ZodType<T>, changes: boolean): T {
    this.contact('open');
    return this.read(shape, this.parse(text, changes), changes);
  }
}

function isOk({ status }: Pick<RemoteAnswer, 'status'>): boolean {
  return status >= 200 && status <= 299;
}
