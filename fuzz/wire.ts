/** A request exactly as it is sent, without any correction. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** The headers, sent unchanged, one byte for each character. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | null;
  /** Sends the body in chunks of unknown total length. */
  readonly chunked: boolean;
}

/** The result of a request: an answer, nothing within the time, or a closed connection. */
export type WireOutcome =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: ReadonlyMap<string, string>;
      readonly head: string;
      readonly body: Buffer;
    }
  | { readonly kind: 'hang' }
  | { readonly kind: 'closed' };

/** How long an open stream is read after its first bytes. */
const STREAM_MS = 20;

interface Exchange {
  readonly request: WireRequest;
  readonly done: (outcome: WireOutcome) => void;
  received: Buffer;
  streaming: boolean;
}

/** One HTTP/1.1 connection that can send any bytes. It is opened again whenever it has been closed. */
export class Wire {
  readonly #port: number;
  #socket: Bun.Socket | null = null;
  #exchange: Exchange | null = null;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends one request and waits for the whole answer, at most `limitMs`. */
  async exchange(request: WireRequest, limitMs: number): Promise<WireOutcome> {
    const socket = this.#socket ?? (await this.#open().catch(() => null));
    if (socket === null) return { kind: 'closed' };
    const { promise, resolve } = Promise.withResolvers<WireOutcome>();
    const limit = setTimeout(() => resolve({ kind: 'hang' }), limitMs);
    this.#exchange = { request, done: resolve, received: Buffer.alloc(0), streaming: false };
    this.#write(socket, encode(request));
    const outcome = await promise;
    clearTimeout(limit);
    this.#exchange = null;
    if (!reusable(request, outcome)) this.close();
    return outcome;
  }

  close(): void {
    this.#socket?.end();
    this.#socket = null;
  }

  #open(): Promise<Bun.Socket> {
    let unsent: Uint8Array | null = null;
    return Bun.connect({
      hostname: '127.0.0.1',
      port: this.#port,
      socket: {
        data: (socket, chunk) => {
          if (socket === this.#socket) this.#received(chunk);
        },
        drain: (socket) => {
          unsent = this.#rest.get(socket) ?? null;
          if (unsent) this.#write(socket, unsent);
        },
        close: (socket) => {
          if (socket !== this.#socket) return;
          this.#socket = null;
          this.#exchange?.done({ kind: 'closed' });
        },
        error: () => undefined,
      },
    }).then((socket) => {
      this.#socket = socket;
      return socket;
    });
  }

  readonly #rest = new WeakMap<Bun.Socket, Uint8Array>();

  #write(socket: Bun.Socket, bytes: Uint8Array): void {
    const written = Math.max(0, socket.write(bytes));
    if (written < bytes.length) this.#rest.set(socket, bytes.subarray(written));
    else this.#rest.delete(socket);
  }

  #received(chunk: Buffer): void {
    const exchange = this.#exchange;
    if (!exchange) return;
    exchange.received = Buffer.concat([exchange.received, chunk]);
    const answer = parseAnswer(exchange.received, exchange.request.method);
    if (answer === null) return;
    if (!answer.streaming) exchange.done(answer.outcome);
    if (!answer.streaming || exchange.streaming) return;
    exchange.streaming = true;
    setTimeout(() => {
      const late = parseAnswer(exchange.received, exchange.request.method);
      if (late) exchange.done(late.outcome);
    }, STREAM_MS);
  }
}

function encode({ method, target, headers, body, chunked }: WireRequest): Uint8Array {
  const framing: (readonly [string, string])[] =
    body === null
      ? []
      : [chunked ? ['transfer-encoding', 'chunked'] : ['content-length', String(body.length)]];
  const lines = [...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  if (body === null) return head;
  if (!chunked) return Buffer.concat([head, body]);
  const size = Buffer.from(`${body.length.toString(16)}\r\n`);
  const data = body.length === 0 ? [] : [size, body, Buffer.from('\r\n')];
  return Buffer.concat([head, ...data, Buffer.from('0\r\n\r\n')]);
}

function parseAnswer(
  received: Buffer,
  method: string,
): { readonly outcome: WireOutcome; readonly streaming: boolean } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.toString('latin1', 0, end);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0);
  if (status === 100) return parseAnswer(received.subarray(end + 4), method);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const rest = received.subarray(end + 4);
  const none = method === 'HEAD' || status === 204 || status === 304;
  const streaming = headers.get('content-type')?.startsWith('text/event-stream') === true && !none;
  const body = none ? Buffer.alloc(0) : readBody(rest, headers, streaming);
  return body && { outcome: { kind: 'answer', status, headers, head, body }, streaming };
}

/** Returns the body, or null while it is incomplete; of a stream the part that has arrived. */
function readBody(
  rest: Buffer,
  headers: ReadonlyMap<string, string>,
  streaming: boolean,
): Buffer | null {
  if (headers.get('transfer-encoding') === 'chunked') {
    const { body, whole } = readChunks(rest);
    return whole || streaming ? body : null;
  }
  const length = Number(headers.get('content-length') ?? 0);
  return rest.length < length ? null : rest.subarray(0, length);
}

function readChunks(rest: Buffer): { readonly body: Buffer; readonly whole: boolean } {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = rest.indexOf('\r\n', at);
    const size = Number.parseInt(rest.toString('latin1', at, Math.max(at, end)), 16);
    const whole = size === 0;
    if (end < 0 || whole || rest.length < end + 2 + size + 2) {
      return { body: Buffer.concat(chunks), whole };
    }
    chunks.push(rest.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

/**
 * Whether the connection can be used again. It cannot if the answer may have come before the whole request was read, or
 * if bytes may be left over.
 */
function reusable(request: WireRequest, outcome: WireOutcome): boolean {
  if (outcome.kind !== 'answer' || outcome.headers.get('connection') === 'close') return false;
  const streamed = outcome.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return (
    !streamed &&
    (request.body?.length ?? 0) < 100_000 &&
    !['HEAD', 'CONNECT', 'TRACE'].includes(request.method)
  );
}
