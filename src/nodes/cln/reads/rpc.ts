import type { z } from 'zod';
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
import { ClnRefusal, refusalError } from '../words/refusal.ts';
import { refusalShape } from '../words/wire.ts';

interface WriteOptions extends Pick<RemoteRequest, 'timeoutMs' | 'harmlessTwice'> {
  readonly certainty?: Certainty;
}

const WIRE: RemoteWire = {
  title: 'Core Lightning',
  headers: (token) => ({
    'content-type': 'application/json',
    ...(token === null ? {} : { rune: token }),
  }),
};

type Params = Readonly<Record<string, unknown>>;

/** The commands of Core Lightning by clnrest with one rune. All throw {@link ApiError}, as `WalletNode` says. */
export class ClnRpc {
  readonly #calls: RemoteCalls;

  /** `target` is asked before each call; see {@link RemoteCalls}. */
  constructor(target: RemoteTarget | (() => Promise<RemoteTarget>), events: RemoteEvents = {}) {
    this.#calls = new RemoteCalls(WIRE, target, events);
  }

  read<T>(
    method: string,
    params: Params,
    shape: z.ZodType<T>,
    options: Pick<RemoteRequest, 'timeoutMs'> = {},
  ): Promise<T> {
    return this.#call(method, params, shape, {
      ...options,
      changes: false,
      harmlessTwice: true,
    });
  }

  list<T>(method: string, params: Params, shape: z.ZodType<T>): Promise<T> {
    const options = { changes: false, harmlessTwice: true, mostBytes: MOST_LIST_BYTES };
    return this.#call(method, params, shape, options);
  }

  /**
   * Changes something. Where it moves money, so that `certainty` is given, and no answer comes, the error has
   * `outcomeUnknown`, unless nothing was sent.
   */
  write<T>(
    method: string,
    params: Params,
    shape: z.ZodType<T>,
    { certainty, ...options }: WriteOptions = {},
  ): Promise<T> {
    const changes = certainty !== undefined;
    return this.#call(method, params, shape, { ...options, changes }, certainty);
  }

  /** The clock of the node's machine, in milliseconds since the epoch; null where clnrest does not tell it. */
  async nodeTimeMs(): Promise<number | null> {
    const target = await this.#calls.target();
    const request = { method: 'POST', path: pathOf('getinfo'), body: {} };
    const options = { changes: false, harmlessTwice: true };
    try {
      return (await this.#calls.send(target, { ...request, ...options })).serverTimeMs;
    } catch (error) {
      throw this.#calls.broken(error, false);
    }
  }

  /** Reads what the node answers only after a change, until `signal` aborts. */
  poll<T>(method: string, params: Params, shape: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    return this.#callLong(method, params, shape, { changes: false, certainty: anyRefusal, signal });
  }

  /** Begins to open the connection for a {@link begin} that is about to follow. */
  prepareStream(): void {
    this.#calls.prepareStream();
  }

  /** Changes something that may take any time. The node goes on with it when `signal` aborts. */
  begin<T>(
    method: string,
    params: Params,
    shape: z.ZodType<T>,
    options: { readonly certainty: Certainty; readonly signal: AbortSignal },
  ): Promise<T> {
    return this.#callLong(method, params, shape, { changes: true, ...options });
  }

  #callLong<T>(
    method: string,
    body: Params,
    shape: z.ZodType<T>,
    options: {
      readonly changes: boolean;
      readonly certainty: Certainty;
      readonly signal: AbortSignal;
    },
  ): Promise<T> {
    const { changes, certainty, signal } = options;
    const request = { method: 'POST', path: pathOf(method), body, changes, isPrepared: changes };
    const refused = async (answer: Pick<RemoteAnswer, 'text'>) =>
      this.#refused(method, answer, changes, certainty);
    return this.#calls.callLong(request, shape, refused, signal);
  }

  #call<T>(
    method: string,
    body: Params,
    shape: z.ZodType<T>,
    options: Omit<RemoteRequest, 'method' | 'path' | 'body'>,
    certainty: Certainty = anyRefusal,
  ): Promise<T> {
    const request = { method: 'POST', path: pathOf(method), body, ...options };
    return this.#calls.call(request, shape, async (answer) =>
      this.#refused(method, answer, options.changes, certainty),
    );
  }

  #refused(
    method: string,
    { text }: Pick<RemoteAnswer, 'text'>,
    changes: boolean,
    certainty: Certainty,
  ): ApiError {
    let refusal: z.output<typeof refusalShape>;
    try {
      refusal = refusalShape.parse(JSON.parse(text));
    } catch (cause) {
      return this.#calls.foreign(cause, changes);
    }
    const told = new ClnRefusal(refusal.code, refusal.message);
    this.#calls.contact(told.code === null ? 'silent' : 'open');
    const error = refusalError(told, { method, outcomeUnknown: changes && !certainty(told) });
    if (error.kind === 'unauthenticated') this.#calls.rejected();
    return error;
  }
}

function pathOf(method: string): string {
  return `/v1/${method}`;
}
