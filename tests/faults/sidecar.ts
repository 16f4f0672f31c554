import { join } from 'node:path';

const BINARY = join(import.meta.dir, '..', '..', 'dist', 'wallet-sidecar');

/** A running sidecar process that a test may kill. */
export interface FaultSidecar {
  readonly baseUrl: string;
  readonly pid: number;
  /**
   * Sends a request and returns the answer's JSON. Throws on a refused connection, and {@link CallFailed} on a status
   * other than 2xx.
   */
  call(method: string, path: string, options?: CallOptions): Promise<unknown>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGTERM. Returns the exit code. */
  stop(): Promise<number>;
  /** The output so far. */
  log(): string;
}

interface CallOptions {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly credentials?: string;
}

/** Thrown for an answer with a status other than 2xx. */
export class CallFailed extends Error {
  constructor(
    readonly status: number,
    readonly body: { code: number; msg: string },
  ) {
    super(`${status} ${JSON.stringify(body)}`);
  }
}

/** Starts the compiled binary with a trial wallet on the sandbox node, and waits until the wallet is ready. */
export async function startFaultSidecar(options: {
  readonly dataDir: string;
  readonly port: number;
  readonly webhookUrl?: string;
  /** The limit of open files and sockets; without it, that of this process. */
  readonly openFiles?: number;
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}): Promise<FaultSidecar> {
  const baseUrl = `http://127.0.0.1:${options.port}`;
  const flags = options.webhookUrl === undefined ? [] : ['--webhook-url', options.webhookUrl];
  const limit =
    options.openFiles === undefined
      ? []
      : ['sh', '-c', `ulimit -n ${options.openFiles}; exec "$@"`, 'sh'];
  const child = Bun.spawn(
    [
      ...limit,
      BINARY,
      'dev',
      '--data-dir',
      options.dataDir,
      '--listen-addr',
      `127.0.0.1:${options.port}`,
      ...flags,
    ],
    {
      env: { ...process.env, SERVICE_SANDBOX_BLOCK_SECS: '0', ...options.env },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  );
  let log = '';
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) log += new TextDecoder().decode(chunk);
  };
  void collect(child.stdout);
  void collect(child.stderr);
  const sidecar: FaultSidecar = {
    baseUrl,
    pid: child.pid,
    log: () => log,
    call: (method, path, call) => request(baseUrl, method, path, call),
    async kill() {
      child.kill('SIGKILL');
      await child.exited;
    },
    async stop() {
      child.kill('SIGTERM');
      return child.exited;
    },
  };
  for (let round = 0; round < 400; round++) {
    // Health may name another problem that the test is about, so only the missing funds of the trial wallet are waited
    // for.
    const health = await sidecar.call('GET', '/v2/health').catch(() => null);
    const status = (health as { status: string } | null)?.status ?? '';
    if (status !== '' && !status.includes('signed up and funded')) return sidecar;
    if (child.exitCode !== null) break;
    await Bun.sleep(25);
  }
  throw new Error(`the sidecar did not start: ${log}`);
}

async function request(
  baseUrl: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<unknown> {
  const query = options.query ? `?${new URLSearchParams(options.query)}` : '';
  const response = await fetch(`${baseUrl}${path}${query}`, {
    method,
    headers: {
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.credentials ? { authorization: `Bearer ${options.credentials}` } : {}),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const body = await response.json();
  if (!response.ok) throw new CallFailed(response.status, body as CallFailed['body']);
  return body;
}

/** A free port. */
export function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const { port } = server;
  void server.stop(true);
  return port ?? 0;
}

/** Returns a generator of repeatable pseudorandom numbers from 0 to less than 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
