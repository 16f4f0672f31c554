/** The result of repeating one kind of request over keep-alive connections from this process. */
export interface LoadResult {
  /** How many requests were answered. */
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LoadRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly ms: number;
  /** Returns the next request to send. */
  readonly next: () => LoadRequest;
}

/**
 * Keeps `connections` busy for `ms` milliseconds with one request at a time on each. Counts the answers with status
 * 2xx.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  const endAt = performance.now() + options.ms;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: options.connections }, () => connection(options, endAt, latencies)),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const count = latencies.length;
  return { count, perSecond: count / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

function connection(options: LoadOptions, endAt: number, latencies: number[]): Promise<void> {
  let sentAt = 0;
  return converse(options.port, {
    next() {
      sentAt = performance.now();
      return sentAt < endAt ? options.next() : null;
    },
    answered(answer) {
      if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text.slice(0, 600)}`);
      latencies.push(performance.now() - sentAt);
    },
  });
}

/** The answer to one request. */
export interface LoadAnswer {
  readonly status: number;
  /** The body. It is read from the connection's buffer, so it must be read while the answer is handled. */
  readonly text: string;
}

/** A caller on one connection. */
export interface Talk {
  /** Returns the next request, or a promise of it; null closes the connection. */
  readonly next: () => LoadRequest | null | Promise<LoadRequest | null>;
  /** Called once for each answer. If it throws, the connection is closed and the call rejects. */
  readonly answered: (answer: LoadAnswer) => void;
}

/**
 * Sends requests over one keep-alive connection, each after the answer to the one before, until there is no next one.
 */
export function converse(port: number, talk: Talk): Promise<void> {
  const done = Promise.withResolvers<void>();
  let received: Buffer = Buffer.alloc(0);
  const send = (socket: Bun.Socket, request: LoadRequest | null) => {
    if (request === null) {
      // This must come before the connection ends, because the end calls back too.
      done.resolve();
      socket.end();
    } else socket.write(encode(request, port));
  };
  const sendNext = (socket: Bun.Socket) => {
    const request = talk.next();
    // A request that is ready is sent without a promise, whose turn would be measured with the answer.
    if (request instanceof Promise) request.then((late) => send(socket, late)).catch(done.reject);
    else send(socket, request);
  };
  void Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: sendNext,
      data(socket, chunk) {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const size = answerSize(received);
        if (size === null || received.length < size) return;
        const answer = readAnswer(received.subarray(0, size));
        received = Buffer.alloc(0);
        try {
          talk.answered(answer);
          sendNext(socket);
        } catch (error) {
          done.reject(error);
          socket.end();
        }
      },
      error: (_socket, error) => done.reject(error),
      close: () => done.reject(new Error('the connection was closed before its last answer')),
    },
  });
  return done.promise;
}

function readAnswer(received: Buffer): LoadAnswer {
  return {
    status: Number(received.toString('latin1', 9, 12)),
    get text() {
      return received.toString('utf8', received.indexOf('\r\n\r\n') + 4);
    },
  };
}

function encode({ method = 'GET', path, headers = {}, body }: LoadRequest, port: number): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const content =
    body === undefined
      ? ''
      : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}${content}\r\n${body ?? ''}`;
}

function answerSize(received: Buffer): number | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const match = /content-length: (\d+)/i.exec(received.toString('latin1', 0, end));
  return end + 4 + Number(match?.[1] ?? 0);
}

/** How many times each compared thing is measured. */
const ROUNDS = 5;

/**
 * Measures several things in turn, round after round, and resolves to the median of each. The machine's speed changes
 * over time, so the compared things must be measured at the same times.
 */
export async function inTurn<const Measures extends readonly (() => Promise<LoadResult>)[]>(
  measures: Measures,
): Promise<{ [Index in keyof Measures]: LoadResult }> {
  const results: LoadResult[][] = measures.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, measure] of measures.entries()) results[index]?.push(await measure());
  }
  const medians = results.map((own) => {
    const sorted = own.toSorted((a, b) => a.perSecond - b.perSecond);
    return sorted[Math.floor(ROUNDS / 2)];
  });
  return medians as { [Index in keyof Measures]: LoadResult };
}
