import { hex } from '@scure/base';

/** An answer that is not a success, as LND sent it. */
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

/** How one call departs from the usual. */
export interface CallOptions {
  /** Macaroon in hex instead of the administrator's; null sends none. */
  readonly macaroonHex?: string | null;
  readonly signal?: AbortSignal;
}

/** LND's REST interface, spoken without the sidecar: what the interop tests compare with. */
export interface LndRest {
  /** The JSON answer to one call; throws {@link LndRestError} unless the status is 2xx. */
  rest<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T>;
  /**
   * The `result` values of a streaming call, in order. Throws {@link LndRestError} for a refusal, and
   * for an `error` in the midst of the stream (status 200 then). Leaving the loop closes the stream.
   */
  stream<T>(
    method: string,
    path: string,
    body?: unknown,
    options?: CallOptions,
  ): AsyncGenerator<T, void, undefined>;
}

/** Where one node is found; both files are read at each call, since the node writes them late. */
export interface RestLocation {
  readonly restUrl: string;
  readonly tlsCertPath: string;
  readonly macaroonPath: string;
}

/** The client of one node, with its self-signed certificate pinned as the only authority. */
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
      // A stream may rest for longer than Bun's five minutes between two updates.
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
