import { hex } from '@scure/base';

/** An error answer of LND. */
export class LndRestError extends Error {
  override readonly name = 'LndRestError';
  constructor(
    readonly call: string,
    readonly status: number,
    readonly body: unknown,
  ) {
    super(`LND answered ${status} to ${call}: ${JSON.stringify(body)}`);
  }
}

/** Options of one call. */
export interface CallOptions {
  /** A macaroon in hex in place of the administrator's; null sends none. */
  readonly macaroonHex?: string | null;
  readonly signal?: AbortSignal;
}

/** LND's REST interface, called without the sidecar, so that tests can compare. */
export interface LndRest {
  /** Makes one call and returns the JSON of the answer. Throws {@link LndRestError} unless the status is 2xx. */
  rest<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T>;
  /**
   * The `result` values of a streaming call, in order. Throws {@link LndRestError} for an error answer, and for an
   * `error` within the stream, whose status is 200. Leaving the loop closes the stream.
   */
  stream<T>(
    method: string,
    path: string,
    body?: unknown,
    options?: CallOptions,
  ): AsyncGenerator<T, void, undefined>;
}

/** The place of one node. Both files are read at each call, because the node may write them after it starts. */
export interface RestLocation {
  readonly restUrl: string;
  readonly tlsCertPath: string;
  readonly macaroonPath: string;
}

/** The client of one node, which accepts only the node's self-signed certificate. */
export function lndRest(location: RestLocation): LndRest {
  async function call(
    method: string,
    path: string,
    body: unknown,
    options: CallOptions,
  ): Promise<Response> {
    const macaroonHex =
      options.macaroonHex === undefined
        ? await readMacaroon(location.macaroonPath)
        : options.macaroonHex;
    return fetch(`${location.restUrl}${path}`, {
      method,
      headers: macaroonHex === null ? {} : { 'grpc-metadata-macaroon': macaroonHex },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      tls: { ca: await Bun.file(location.tlsCertPath).text() },
      // A stream may be silent between two updates for longer than the five minutes that Bun allows.
      timeout: false,
    });
  }

  return {
    async rest<T>(method: string, path: string, body?: unknown, options: CallOptions = {}) {
      const response = await call(method, path, body, options);
      const answer = parse(await response.text());
      if (!response.ok) throw new LndRestError(`${method} ${path}`, response.status, answer);
      return answer as T;
    },
    async *stream<T>(method: string, path: string, body?: unknown, options: CallOptions = {}) {
      const response = await call(method, path, body, options);
      const refusal = (text: string): LndRestError =>
        new LndRestError(`${method} ${path}`, response.status, parse(text));
      if (!response.ok || response.body === null) throw refusal(await response.text());
      for await (const line of lines(response.body)) {
        const item = parse(line) as { result?: T; error?: unknown };
        if (item.result === undefined) throw refusal(line);
        yield item.result;
      }
    },
  };
}

async function readMacaroon(path: string): Promise<string | null> {
  const file = Bun.file(path);
  return (await file.exists()) ? hex.encode(await file.bytes()) : null;
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const complete = rest.split('\n');
    rest = complete.pop() ?? '';
    yield* complete.filter((line) => line !== '');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
