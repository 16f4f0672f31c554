import { z } from 'zod';
import type { ApiError } from '../../../model/errors.ts';
import {
  MOST_LIST_BYTES,
  RemoteCalls,
  type RemoteEvents,
  type RemoteRequest,
  type RemoteTarget,
  type RemoteWire,
} from '../../remote/calls/calls.ts';
import type { RemoteAnswer } from '../../remote/calls/endpoint.ts';
import { anyRefusal, type Certainty } from '../words/certainty.ts';
import {
  LndRefusal,
  mayBeRejected,
  type Opener,
  refusalError,
  saysRejected,
} from '../words/refusal.ts';
import { stateShape } from '../words/wire.ts';
import { standingByRefusal, standingOf } from './standing.ts';

interface CallOptions extends Pick<RemoteRequest, 'timeoutMs' | 'harmlessTwice' | 'mostBytes'> {
  /** For calls that move money: tells which answers prove that nothing was done. */
  readonly certainty?: Certainty;
}

interface StreamOptions {
  /** Lines for which this returns false are skipped unread. For streams of which most lines are not needed. */
  readonly isWanted?: (line: string) => boolean;
  /** For requests that move money; see {@link CallOptions}. */
  readonly certainty?: Certainty;
  /** Time limit for the answer's head, which comes with the first item: for streams that begin at once. */
  readonly headWithinMs?: number;
  /** Whether the connection may be one that {@link LndRest.prepareStream} has opened. */
  readonly isPrepared?: boolean;
  /** The longest silence between two items, for streams in which LND is never silent for longer. */
  readonly silenceMs?: number;
}

type StreamMethod = 'GET' | 'POST' | 'DELETE';

const refusalShape = z.object({ code: z.number(), message: z.string() });
const streamRefusal = z.object({ error: refusalShape });

const WIRE: RemoteWire = {
  title: 'LND',
  headers: (token) => (token === null ? {} : { 'grpc-metadata-macaroon': token }),
};

/** Callbacks around the calls of {@link LndRest}. */
interface LndEvents extends RemoteEvents {
  /** Who opens the wallet of this LND; its operator if absent. */
  readonly opener?: Opener;
}

/** LND's REST interface with one macaroon. Every method throws {@link ApiError}, as `WalletNode` says. */
export class LndRest {
  readonly #calls: RemoteCalls;
  readonly #opener: Opener;

  /** `target` is asked before each call; see {@link RemoteCalls}. */
  constructor(
    target: RemoteTarget | (() => Promise<RemoteTarget>),
    { opener = 'operator', ...events }: LndEvents = {},
  ) {
    this.#calls = new RemoteCalls(WIRE, target, events);
    this.#opener = opener;
  }

  get<T>(
    path: string,
    shape: z.ZodType<T>,
    options: Pick<CallOptions, 'timeoutMs'> = {},
  ): Promise<T> {
    return this.#read(path, shape, options);
  }

  /** Reads the state of LND's wallet, which LND tells without a macaroon. */
  async state(options: Pick<CallOptions, 'timeoutMs'> = {}): Promise<string> {
    const { state } = await this.#read('/v1/state', stateShape, { ...options, isPublic: true });
    this.#calls.contact(standingOf(state, this.#opener));
    return state;
  }

  list<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    return this.#read(path, shape, { mostBytes: MOST_LIST_BYTES });
  }

  /** Reads the first item of a stream, and not the others. Throws `unreadable` for a stream without items. */
  async first<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    const options = { mostBytes: MOST_LIST_BYTES, isStream: true };
    const item = await this.#read(path, z.unknown(), options);
    const result = z.object({ result: shape });
    const target = await this.#calls.target();
    return (await this.#item(target, 200, item, result, anyRefusal, false)).result;
  }

  /**
   * Changes something. Where it moves money, so that `certainty` is given, and no answer comes, the error has
   * `outcomeUnknown`, unless nothing was sent.
   */
  post<T>(path: string, body: unknown, shape: z.ZodType<T>, options: CallOptions = {}): Promise<T> {
    const changes = options.certainty !== undefined;
    return this.#call({ method: 'POST', path, body, changes, ...options }, shape, options);
  }

  /** Removes something; a repeat does no harm. */
  delete<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    return this.#call({ method: 'DELETE', path, harmlessTwice: true, changes: false }, shape);
  }

  /** Begins to open the connection of a stream that is about to follow with `isPrepared`. */
  prepareStream(): void {
    this.#calls.prepareStream();
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
      const target = await this.#calls.target();
      const stream = await target.endpoint.stream({
        method,
        path,
        headers: this.#calls.headers(target),
        body: body === undefined ? null : JSON.stringify(body),
        signal,
        headWithinMs: options.headWithinMs ?? null,
        silenceMs: options.silenceMs ?? null,
        isPrepared: options.isPrepared ?? false,
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
      this.#calls.contact('open');
      for await (const line of stream.lines()) {
        if (!isWanted(line)) continue;
        const item = this.#calls.parse(line, changes);
        yield (await this.#item(target, status, item, result, certainty, changes)).result;
      }
    } catch (error) {
      if (signal.aborted) return;
      throw this.#calls.broken(error, changes);
    } finally {
      close();
    }
  }

  #read<T>(path: string, shape: z.ZodType<T>, options: Partial<RemoteRequest>): Promise<T> {
    const request = { method: 'GET', path, harmlessTwice: true, changes: false, ...options };
    return this.#call(request, shape);
  }

  #call<T>(
    request: RemoteRequest,
    shape: z.ZodType<T>,
    { certainty = anyRefusal }: CallOptions = {},
  ): Promise<T> {
    return this.#calls.call(request, shape, (answer, target) =>
      this.#refused(target, answer, certainty, request.changes),
    );
  }

  /** Reads an item of a stream. Throws the refusal that stands in its place. */
  async #item<T>(
    target: RemoteTarget,
    status: number,
    item: unknown,
    shape: z.ZodType<T>,
    certainty: Certainty,
    changes: boolean,
  ): Promise<T> {
    const refusal = streamRefusal.safeParse(item);
    if (refusal.success) throw await this.#refusal(target, status, refusal.data.error, certainty);
    return this.#calls.read(shape, item, changes);
  }

  async #refused(
    target: RemoteTarget,
    { status, text }: Pick<RemoteAnswer, 'status' | 'text'>,
    certainty: Certainty,
    changes: boolean,
  ): Promise<ApiError> {
    let refusal: z.output<typeof refusalShape>;
    try {
      const body: { error?: unknown } = JSON.parse(text);
      refusal = refusalShape.parse(body.error ?? body);
    } catch (cause) {
      // Whatever answered, it was not LND.
      return this.#calls.foreign(cause, changes);
    }
    return this.#refusal(target, status, refusal, certainty);
  }

  async #refusal(
    target: RemoteTarget,
    httpStatus: number,
    { code, message }: z.output<typeof refusalShape>,
    certainty: Certainty,
  ): Promise<ApiError> {
    const refusal = new LndRefusal(httpStatus, code, message);
    this.#calls.contact(standingByRefusal(refusal, this.#opener));
    const rejected = mayBeRejected(refusal) && (await this.#isRejected(target));
    if (rejected) this.#calls.rejected();
    const opener = this.#opener;
    return refusalError(refusal, { rejected, outcomeUnknown: !certainty(refusal), opener });
  }

  /**
   * Makes a second call that every macaroon of this program allows. If LND refuses that too, the macaroon is the cause;
   * one error alone may contain the same words for other reasons.
   */
  async #isRejected(target: RemoteTarget): Promise<boolean> {
    try {
      const { status, text } = await this.#calls.send(target, {
        method: 'GET',
        path: '/v1/getinfo',
        harmlessTwice: true,
        changes: false,
      });
      if (status === 200) return false;
      const { code, message } = refusalShape.parse(JSON.parse(text));
      return saysRejected(new LndRefusal(status, code, message));
    } catch {
      return false;
    }
  }
}
