import type { z } from 'zod';
import { KeptProcess, type LineProcess } from '../../../lib/kept-process.ts';
import type { Log } from '../../../lib/log.ts';
import { sleep } from '../../../lib/sleep.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import { MOST_SHOWN_CHARACTERS } from '../../refusals.ts';
import { PROTOCOL, type Said, saidShape, shapes } from '../words/words.ts';

/** How far the helper's state had come when it was last seen. */
export interface SeenState {
  readonly opens: number;
  readonly seq: number;
}

interface HelperOptions {
  /** Returns the path of the program, after it was looked at. */
  readonly program: () => Promise<string>;
  /** What `open` is told, but for `at_least`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly log: Pick<Log, 'debug' | 'warn'>;
  readonly elapsedMs: () => number;
  readonly random: () => number;
  /** Returns how far the state had come; null before the first time. */
  readonly seen: () => Promise<SeenState | null>;
  /** Stores how far it has come, before the node is used. */
  readonly keep: (state: SeenState) => Promise<void>;
}

/** How the node stands that a helper holds. */
export interface OpenedNode {
  readonly nodePk: string;
}

interface Pending {
  readonly answer: (result: unknown) => void;
  readonly fail: (error: ApiError) => void;
}

/** A call waits so long for a node that starts, and for an answer. */
const OPENS_WITHIN_MS = 30_000;
/** A node whose chain is out of reach is opened again after this time. */
const OPENS_AGAIN_MS = 5_000;
const ANSWERS_WITHIN_MS = 60_000;

/** The process that holds the LDK node (helper/README.md), and the calls to it. */
export class Helper {
  readonly #options: HelperOptions;
  readonly #kept: KeptProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<() => void>();
  readonly #endListeners = new Set<() => void>();
  #process: LineProcess | null = null;
  #opened = Promise.withResolvers<OpenedNode>();
  #lastId = 0;
  #refusal: string | null = null;
  #waiting: string | null = null;
  #version = '';

  constructor(options: HelperOptions) {
    this.#options = options;
    this.#opened.promise.catch(() => undefined);
    this.#kept = new KeptProcess({
      title: 'The LDK node',
      program: options.program,
      // Its chain is served on this machine, which a proxy for the web cannot reach.
      env: { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
      started: (process) => this.#started(process),
      log: options.log,
      elapsedMs: options.elapsedMs,
      random: options.random,
      sleep,
    });
  }

  /** Why the process or its state cannot be used, as a sentence for health; null while they can. */
  get problem(): string | null {
    return this.#refusal ?? this.#kept.problem;
  }

  /** Why the node could not open yet, as a sentence for health; null once it is open. */
  get waiting(): string | null {
    return this.#waiting;
  }

  /** The version of the node software, ldk-node; empty before the helper has spoken. */
  get version(): string {
    return this.#version;
  }

  /** Resolves once the node runs. Throws `unreachable` when it does not start in time, or is not started any more. */
  async opened(): Promise<OpenedNode> {
    if (this.#kept.isGivenUp) throw this.#away('The LDK node ended');
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(this.#away('The LDK node is still starting')),
      OPENS_WITHIN_MS,
    );
    try {
      return await Promise.race([this.#opened.promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Calls the listener after each change of the node, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener when the process has ended, until the returned function is called. */
  onEnd(listener: () => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  /**
   * Asks the node. Throws `refused` and `notFound` where it certainly did nothing, `unreachable` where it was not
   * asked, and an error whose outcome is unknown where it may have done it.
   */
  async call<T>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    shape: z.ZodType<T>,
  ): Promise<T> {
    await this.opened();
    return this.#ask(method, params, shape);
  }

  async close(): Promise<void> {
    await this.#kept.close();
  }

  #away(what: string): ApiError {
    return new ApiError(
      'unreachable',
      this.problem ?? this.#waiting ?? `${what}: try again in a moment.`,
    );
  }

  #started(process: LineProcess) {
    this.#process = process;
    return {
      line: (text: string) => this.#heard(text, process),
      gone: () => this.#gone(process),
    };
  }

  #gone(process: LineProcess): void {
    if (this.#process !== process) return;
    this.#process = null;
    this.#opened.promise.catch(() => undefined);
    if (this.#refusal === null) {
      this.#opened.reject(this.#away('The LDK node ended'));
      this.#opened = Promise.withResolvers();
      this.#opened.promise.catch(() => undefined);
    }
    for (const { fail } of this.#pending.values()) {
      fail(ended());
    }
    this.#pending.clear();
    for (const listener of this.#endListeners) listener();
  }

  #heard(text: string, process: LineProcess): void {
    const said = readSaid(text);
    if (said === null) {
      this.#options.log.warn('The LDK node said what cannot be read; it is started again.');
      process.kill();
      return;
    }
    if ('hello' in said) {
      this.#version = said.hello.ldk_node;
      void this.#open(said.hello.protocol, process);
      return;
    }
    if ('changed' in said) {
      for (const listener of this.#listeners) listener();
      return;
    }
    const pending = this.#pending.get(said.id);
    this.#pending.delete(said.id);
    if ('error' in said) pending?.fail(errorOf(said.error));
    else pending?.answer(said.result);
  }

  /** Has the helper open its node, whose state must not be older than what was seen of it. */
  async #open(protocol: number, process: LineProcess): Promise<void> {
    const { settings, seen, keep, log } = this.#options;
    try {
      if (protocol !== PROTOCOL) {
        throw refused(
          `The helper of the LDK node speaks version ${protocol} of its protocol, and this sidecar ${PROTOCOL}: install both of one release.`,
        );
      }
      const atLeast = await seen();
      const { opened: shape } = shapes();
      const { node_pk, opens, seq } = await this.#ask(
        'open',
        { ...settings, at_least: atLeast },
        shape,
      );
      await keep({ opens, seq });
      this.#waiting = null;
      this.#opened.resolve({ nodePk: node_pk });
    } catch (error) {
      if (error instanceof ApiError && error.kind === 'unreachable' && !error.outcomeUnknown) {
        // The chain's server is away. The process stays, since nothing is wrong with it.
        this.#waiting = error.message;
        await sleep(OPENS_AGAIN_MS);
        if (this.#process === process) await this.#open(protocol, process);
        return;
      }
      if (error instanceof ApiError && error.kind === 'refused') {
        // It would be refused again: the sentence says what to do.
        this.#refusal = error.message;
        this.#opened.reject(error);
        log.warn(error.message);
        return;
      }
      log.warn('The LDK node did not open; it is started again.', { error });
      process.kill();
    }
  }

  #ask<T>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    shape: z.ZodType<T>,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#process === null) return Promise.reject(this.#away('The LDK node is not running'));
    const id = ++this.#lastId;
    const timer = setTimeout(() => {
      this.#pending.delete(id);
      reject(
        new ApiError('timeout', 'The LDK node did not answer in time: look again later.', {
          outcomeUnknown: true,
        }),
      );
    }, ANSWERS_WITHIN_MS);
    this.#pending.set(id, {
      answer(result) {
        clearTimeout(timer);
        const read = shape.safeParse(result);
        if (read.success) resolve(read.data);
        else
          reject(
            new ApiError('unreadable', `The LDK node's answer to ${method} cannot be read.`, {
              outcomeUnknown: true,
              cause: read.error,
            }),
          );
      },
      fail(error) {
        clearTimeout(timer);
        reject(error);
      },
    });
    try {
      this.#process.tell(JSON.stringify({ id, method, params: asText(params) }));
    } catch (cause) {
      // The process has just ended. What was asked of it before may have been done.
      this.#pending.get(id)?.fail(ended(cause));
      this.#pending.delete(id);
    }
    return promise;
  }
}

/** The error of a request that may have reached the process before it ended. */
function ended(cause?: unknown): ApiError {
  return new ApiError(
    'unreachable',
    'The LDK node ended and is started again: try again in a moment.',
    {
      outcomeUnknown: true,
      cause,
    },
  );
}

/** Amounts are text on the wire. */
function asText(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? `${value}` : value,
    ]),
  );
}

function readSaid(text: string): Said | null {
  try {
    const read = saidShape().safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

function errorOf({ code, message }: { readonly code: string; readonly message: string }): ApiError {
  const shown = message.slice(0, MOST_SHOWN_CHARACTERS);
  switch (code) {
    case 'refused':
      return refused(shown);
    case 'not_found':
      return new ApiError('notFound', shown);
    case 'unreachable':
      return new ApiError('unreachable', shown);
    case 'invalid':
      return new ApiError('unreadable', `The LDK node could not read a request: ${shown}`);
    default:
      return new ApiError('unreadable', shown, { outcomeUnknown: true });
  }
}
