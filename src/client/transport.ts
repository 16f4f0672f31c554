import {
  afterOpenAttempt,
  errorOf,
  type Method,
  unansweredError,
  WalletSidecarError,
} from './error.ts';
import { pause, retryDelayMs } from './retry.ts';

/** Where the sidecar is and as whom to call it. */
export interface WalletSidecarOptions {
  /** Default `http://127.0.0.1:5393`. */
  readonly url?: string | undefined;
  /** Client credentials; without them the sidecar uses its default ones. */
  readonly credentials?: string | undefined;
  /** How often a call that can be repeated safely is repeated; default 2. */
  readonly maxRetries?: number | undefined;
  /**
   * Told when the sidecar ignored fields of a request because it does not know them, such as a misspelled one; default
   * a warning on the console.
   */
  readonly onIgnoredFields?: ((ignored: IgnoredFields) => void) | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** Fields of a request that the sidecar does not know, and so did not use. */
export interface IgnoredFields {
  readonly method: string;
  readonly path: string;
  /** Their names, nested ones as paths such as `disclosures.offer_issuer`. */
  readonly names: readonly string[];
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. Payments that were sent go on. */
  readonly signal?: AbortSignal | undefined;
}

/** What a POST takes besides. */
export interface PostOptions extends CallOptions {
  /**
   * 1 to 255 printable characters, one for each thing you want done. The same key and request give the first outcome
   * again, after a crash too. Only with a key is a POST repeated when no answer came.
   */
  readonly idempotencyKey?: string | undefined;
}

/** What an operation that pays takes besides. */
export interface PayOptions extends PostOptions {
  /** Answers with the pending payment after so many seconds (0: at once) instead of waiting for its end. */
  readonly respondAfterSecs?: number | undefined;
}

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

interface Call {
  readonly method: Method;
  readonly path: string;
  readonly query?: object;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly repeatable: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Calls a sidecar over HTTP. Every rejection but an abort is a `WalletSidecarError`. */
export class Transport {
  readonly #baseUrl: string;
  readonly #authorization: Readonly<Record<string, string>>;
  readonly #maxRetries: number;
  readonly #onIgnoredFields: (ignored: IgnoredFields) => void;
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;

  constructor(options: WalletSidecarOptions) {
    this.#baseUrl = new URL(options.url ?? 'http://127.0.0.1:5393').href.replace(/\/+$/, '');
    const credentials = options.credentials?.trim() ?? '';
    this.#authorization = credentials === '' ? {} : { authorization: `Bearer ${credentials}` };
    this.#maxRetries = options.maxRetries ?? 2;
    this.#onIgnoredFields = options.onIgnoredFields ?? warnOfIgnoredFields;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
  }

  /** Reads; repeated when no answer came. */
  get<T>(path: string, query: object, { signal }: CallOptions = {}): Promise<T> {
    // What this wait answers counts as seen: repeating it would skip an update whose answer was lost.
    const repeatable =
      path !== '/v2/node/wait_for_next_payment' || (query as Query).start_index !== undefined;
    return this.#json({ method: 'GET', path, query, repeatable, signal });
  }

  /** Changes something that may be changed twice; repeated when no answer came. */
  put<T>(path: string, body: object, { signal }: CallOptions = {}): Promise<T> {
    return this.#json({ method: 'PUT', path, body, repeatable: true, signal });
  }

  /** Does something; repeated when no answer came, but only with an idempotency key. */
  post<T>(path: string, body: object, options: PayOptions = {}): Promise<T> {
    const { idempotencyKey, respondAfterSecs, signal } = options;
    const headers = {
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(respondAfterSecs === undefined ? {} : { prefer: `wait=${respondAfterSecs}` }),
    };
    const repeatable = idempotencyKey !== undefined;
    return this.#json({ method: 'POST', path, body, headers, repeatable, signal });
  }

  /** Opens a stream; never repeated here, since only its reader knows where to go on. */
  async open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#send({ method: 'GET', path, headers, repeatable: false, signal });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (response.ok && response.body && isStream) return response.body;
    throw await this.#failure(response, 'GET', signal);
  }

  /** The error of a call or stream that ended without an answer. */
  unanswered(method: Method, cause: unknown): WalletSidecarError {
    return unansweredError(this.#baseUrl, method, cause);
  }

  async #json<T>(call: Call): Promise<T> {
    let open = false;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.#send(call);
        if (!response.ok) throw await this.#failure(response, call.method, call.signal);
        return (await this.#parse(response, call.method, call.signal)) as T;
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!(error instanceof WalletSidecarError)) throw error;
        const delayMs =
          call.repeatable && attempt <= this.#maxRetries ? retryDelayMs(error, attempt) : null;
        if (delayMs === null) throw open ? afterOpenAttempt(error) : error;
        open ||= error.mayHaveTakenEffect;
        await pause(delayMs, call.signal);
      }
    }
  }

  async #send({ method, path, query = {}, body, headers, signal }: Call): Promise<Response> {
    let response: Response;
    try {
      response = await this.#fetch(`${this.#baseUrl}${path}${queryText(query as Query)}`, {
        method,
        // Credentials go where they were meant to go, and nowhere else.
        redirect: 'manual',
        headers: {
          ...this.#authorization,
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw this.#lost(error, method, signal);
    }
    const names = ignoredNames(response.headers.get('x-ignored-fields'));
    if (names.length > 0) this.#onIgnoredFields({ method, path, names });
    return response;
  }

  async #failure(
    response: Response,
    method: Method,
    signal: AbortSignal | undefined,
  ): Promise<Error> {
    const body = await this.#parse(response, method, signal);
    const retryAfter = response.headers.get('retry-after');
    return errorOf(body, { method, httpStatus: response.status, retryAfter });
  }

  async #parse(
    response: Response,
    method: Method,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const text = await response.text().catch((error: unknown) => {
      throw this.#lost(error, method, signal);
    });
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw errorOf(null, { method, httpStatus: response.status, retryAfter: null });
    }
  }

  #lost(error: unknown, method: Method, signal: AbortSignal | undefined): unknown {
    return signal?.aborted ? signal.reason : this.unanswered(method, error);
  }
}

/** A list of strings (RFC 9651), each of them percent-encoded. */
function ignoredNames(header: string | null): string[] {
  return [...(header ?? '').matchAll(/"((?:[^"%]|%[0-9A-F]{2})*)"/g)].map(([, name = '']) => {
    try {
      return decodeURIComponent(name);
    } catch {
      return name;
    }
  });
}

function warnOfIgnoredFields({ method, path, names }: IgnoredFields): void {
  console.warn(
    `The wallet-sidecar does not know these fields of ${method} ${path} and ignored them: ${names.join(', ')}.`,
  );
}

function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
