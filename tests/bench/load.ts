/** Requests of one kind, repeated over keep-alive connections from this process. */
export interface LoadResult {
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
  /** The next request to send; asked for each one. */
  readonly next: () => LoadRequest;
}

/** Keeps `connections` busy for `ms`, one request at a time on each, and counts answers with status 2xx. */
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
  return { perSecond: latencies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

function connection(options: LoadOptions, endAt: number, latencies: number[]): Promise<void> {
  const done = Promise.withResolvers<void>();
  let received: Buffer = Buffer.alloc(0);
  let sentAt = 0;
  const send = (socket: Bun.Socket) => {
    if (performance.now() >= endAt) {
      socket.end();
      return done.resolve();
    }
    sentAt = performance.now();
    socket.write(encode(options.next(), options.port));
  };
  void Bun.connect({
    hostname: '127.0.0.1',
    port: options.port,
    socket: {
      open: send,
      data(socket, chunk) {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const size = answerSize(received);
        if (size === null || received.length < size) return;
        if (received[9] !== 0x32) done.reject(new Error(received.toString('latin1').slice(0, 600)));
        received = Buffer.alloc(0);
        latencies.push(performance.now() - sentAt);
        send(socket);
      },
      error: (_socket, error) => done.reject(error),
      close: () => done.resolve(),
    },
  });
  return done.promise;
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
