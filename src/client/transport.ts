import { baseUrlOf } from './base-url.ts';
import {
  afterOpenAttempt,
  errorOf,
  type Method,
  unansweredError,
  WalletSidecarError,
} from './error.ts';
import { pause, retryDelayMs } from './retry.ts';

/** The sidecar's address and the credentials to use. */
export interface WalletSidecarOptions {
  /**
   * Base URL of the sidecar, http or https. Credentials are sent only to this machine or over https; another URL with
   * credentials throws a `TypeError`. Default: `http://127.0.0.1:5393`.
   */
  readonly url?: string | undefined;
  /**
   * Client credentials. Without them the sidecar uses its default wallet. What no header can carry, such as a line
   * break within them, throws a `RangeError`.
   */
  readonly credentials?: string | undefined;
  /** How many times a call that is safe to repeat is repeated. Default: 2. */
  readonly maxRetries?: number | undefined;
  /**
   * Called when the sidecar ignored fields of a request because it does not know them, such as misspelled ones. By
   * default a warning is written to the console.
   */
  readonly onIgnoredFields?: ((ignored: IgnoredFields) => void) | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** Fields of a request that the sidecar does not know and has ignored. */
export interface IgnoredFields {
  readonly method: string;
  readonly path: string;
  /** The names of the fields. Nested ones are paths such as `disclosures.offer_issuer`. */
  readonly names: readonly string[];
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. A payment that was sent continues. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a POST. */
export interface PostOptions extends CallOptions {
  /**
   * A key of 1 to 255 printable characters, one for each thing you want done. The same key and request give the first
   * outcome again, also after a crash. A POST without an answer is repeated only if it has a key.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options of an operation that pays. */
export interface PayOptions extends PostOptions {
  /**
   * The call resolves to the pending payment after this many seconds (0: at once) instead of waiting for the final one.
   */
  readonly respondAfterSecs?: number | undefined;
}

/** A stream to open. */
interface StreamOptions extends CallOptions {
  readonly mediaType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: object;
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

/** What a call sends, the same each time. */
interface Prepared {
  readonly target: string;
  readonly init: RequestInit;
}

/** What a program calls the headers that it gives. */
const GIVEN: Readonly<Record<string, string>> = {
  'idempotency-key': 'idempotencyKey',
  'last-event-id': 'startIndex',
};

/**
 * Calls a sidecar over HTTP. Every rejection is a `WalletSidecarError`, except the reason of an aborted signal, and a
 * `RangeError` or `TypeError` for what cannot be sent, before anything is.
 */
export class Transport {
  readonly #baseUrl: string;
  readonly #authorization: Readonly<Record<string, string>>;
  readonly #maxRetries: number;
  readonly #onIgnoredFields: (ignored: IgnoredFields) => void;
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;

  constructor(options: WalletSidecarOptions) {
    const credentials = options.credentials?.trim() ?? '';
    this.#baseUrl = baseUrlOf(options.url ?? 'http://127.0.0.1:5393', credentials !== '');
    this.#authorization =
      credentials === '' ? {} : { authorization: `Bearer ${inHeader('credentials', credentials)}` };
    this.#maxRetries = options.maxRetries ?? 2;
    this.#onIgnoredFields = options.onIgnoredFields ?? warnOfIgnoredFields;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
  }

  /** Reads data. The call is repeated when no answer came. */
  get<T>(path: string, query: object, { signal }: CallOptions = {}): Promise<T> {
    // The sidecar counts the update in this answer as seen. A repeat would skip it if the answer was lost.
    const repeatable =
      path !== '/v2/node/wait_for_next_payment' || (query as Query).start_index !== undefined;
    return this.#json({ method: 'GET', path, query, repeatable, signal });
  }

  /** Makes a change that may be made twice. The call is repeated when no answer came. */
  put<T>(path: string, body: object, { signal }: CallOptions = {}): Promise<T> {
    return this.#json({ method: 'PUT', path, body, repeatable: true, signal });
  }

  /** Performs an action. With an idempotency key the call is repeated when no answer came. */
  post<T>(path: string, body: object, options: PayOptions = {}): Promise<T> {
    const { idempotencyKey, respondAfterSecs, signal } = options;
    const headers = {
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(respondAfterSecs === undefined ? {} : { prefer: `wait=${respondAfterSecs}` }),
    };
    const repeatable = idempotencyKey !== undefined;
    return this.#json({ method: 'POST', path, body, headers, repeatable, signal });
  }

  /** Opens a stream. It is never repeated here, because only the stream's reader knows where to resume. */
  async open(
    path: string,
    { headers = {}, query = {}, mediaType, signal }: StreamOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const call = { method: 'GET', path, headers, query, repeatable: false, signal } as const;
    const response = await this.#send(call, this.#request(call));
    const isStream = response.headers.get('content-type')?.startsWith(mediaType);
    if (response.ok && response.body && isStream) return response.body;
    throw await this.#failure(response, call);
  }

  /** Returns the error of a call or stream that ended without an answer. */
  unanswered(
    { method, headers }: Pick<Call, 'method' | 'headers'>,
    cause: unknown,
  ): WalletSidecarError {
    const hasKey = headers?.['idempotency-key'] !== undefined;
    return unansweredError(this.#baseUrl, { method, hasKey }, cause);
  }

  async #json<T>(call: Call): Promise<T> {
    const request = this.#request(call);
    let open = false;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.#send(call, request);
        if (!response.ok) throw await this.#failure(response, call);
        return (await this.#parse(response, call)) as T;
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!(error instanceof WalletSidecarError)) throw error;
        const delayMs =
          call.repeatable && attempt <= this.#maxRetries ? retryDelayMs(error, attempt) : null;
        if (delayMs === null) throw open ? afterOpenAttempt(error, call.method) : error;
        // What never reached a sidecar has had no effect.
        open ||= error.mayHaveTakenEffect && error.kind !== 'unreachable';
        await pause(delayMs, call.signal);
      }
    }
  }

  /** Makes the request, apart from sending it: what fails here has had no effect. */
  #request({ method, path, query = {}, body, headers = {}, signal }: Call): Prepared {
    signal?.throwIfAborted();
    for (const [name, value] of Object.entries(headers)) inHeader(GIVEN[name] ?? name, value);
    const sent = body === undefined ? undefined : JSON.stringify(body, exact);
    const init = {
      method,
      // A redirect could send the credentials to another server.
      redirect: 'manual',
      headers: {
        ...this.#authorization,
        ...headers,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(sent === undefined ? {} : { body: sent }),
      ...(signal === undefined ? {} : { signal }),
    } as const;
    return { target: `${path}${queryText(query as Query)}`, init };
  }

  async #send(call: Call, { target, init }: Prepared): Promise<Response> {
    const { method, path } = call;
    let response: Response;
    try {
      response = await this.#fetch(`${this.#baseUrl}${target}`, init);
    } catch (error) {
      throw this.#lost(error, call);
    }
    const names = ignoredNames(response.headers.get('x-ignored-fields'));
    if (names.length > 0) this.#onIgnoredFields({ method, path, names });
    return response;
  }

  async #failure(response: Response, call: Call): Promise<Error> {
    const body = await this.#parse(response, call);
    const retryAfter = response.headers.get('retry-after');
    return errorOf(body, { method: call.method, httpStatus: response.status, retryAfter });
  }

  async #parse(response: Response, call: Call): Promise<unknown> {
    const text = await response.text().catch((error: unknown) => {
      throw this.#lost(error, call);
    });
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw errorOf(null, { method: call.method, httpStatus: response.status, retryAfter: null });
    }
  }

  #lost(error: unknown, call: Call): unknown {
    return call.signal?.aborted ? call.signal.reason : this.unanswered(call, error);
  }
}

/**
 * Returns a text that goes into a header. Throws a `RangeError` that names it, and does not show it, for what a runtime
 * would not send: its own error could not be told from that of a connection that broke.
 */
function inHeader(name: string, text: string): string {
  const wrong = /[^ -~]|^$/.exec(text);
  if (wrong === null) return text;
  throw new RangeError(
    `${name} must be one or more printable ASCII characters, and its character ${wrong.index + 1} is none. Nothing was sent.`,
  );
}

/** Returns the names in the header, a list of strings (RFC 9651) that are percent-encoded. */
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

/**
 * Returns a member of a request. Throws a `RangeError` for numbers that the API does not have: JSON would make `null`
 * of `NaN`, which means that nothing was given, such as no limit of fees. A `bigint` may be millisatoshis.
 */
function exact(name: string, value: unknown): unknown {
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isSafeInteger(value))) {
    throw new RangeError(
      `${name} is ${value}, which cannot be sent: give a whole number, or an amount in satoshis as text with up to three decimals, such as '0.5'. Of millisatoshis, fromMsat makes an amount.`,
    );
  }
  return value;
}

function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) parameters.set(name, String(exact(name, value)));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
