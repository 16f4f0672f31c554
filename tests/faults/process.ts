import { join } from 'node:path';

const BINARY = join(import.meta.dir, '..', '..', 'dist', 'wallet-sidecar');

/** The compiled binary, started with any arguments. */
export interface SidecarProcess {
  readonly pid: number;
  /** The output so far, of stdout and stderr. */
  log(): string;
  /** Resolves with the base URL once the sidecar is ready. Throws with the log when the process ends before. */
  ready(): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code. Throws when the process does not end within a minute. */
  exit(): Promise<number>;
  /** Sends SIGTERM. Returns the exit code, and how long stopping took in milliseconds. */
  terminate(): Promise<{ code: number; ms: number }>;
}

/** Starts the binary. `before` is a command that runs it, such as setpriv. */
export function startProcess(
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly before?: readonly string[];
  } = {},
): SidecarProcess {
  const child = Bun.spawn([...(options.before ?? []), BINARY, ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: '/nonexistent',
      SERVICE_SANDBOX_BLOCK_SECS: '0',
      ...options.env,
    },
    cwd: '/',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let log = '';
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) log += decoder.decode(chunk, { stream: true });
  };
  const read = Promise.all([collect(child.stdout), collect(child.stderr)]);
  const exit = async () => {
    await until(() => child.exitCode !== null || child.signalCode !== null);
    await read;
    return child.exitCode ?? -1;
  };
  return {
    pid: child.pid,
    log: () => log,
    async ready() {
      // The trial wallet is funded only after the server is ready.
      const said = args[0] === 'dev' ? /A sandbox wallet is ready/ : /is ready.* url=/;
      await until(() => said.test(log) || child.exitCode !== null);
      const url = /is ready.* url=(\S+)/.exec(log)?.[1]?.replaceAll('"', '');
      if (url === undefined || child.exitCode !== null) throw new Error(`it did not start: ${log}`);
      return url;
    },
    signal: (name) => child.kill(name),
    exit,
    async terminate() {
      const startedMs = performance.now();
      child.kill('SIGTERM');
      return { code: await exit(), ms: performance.now() - startedMs };
    },
  };
}

/** Runs the binary until it ends. */
export async function runCommand(
  args: readonly string[],
  options: Parameters<typeof startProcess>[1] = {},
): Promise<{ code: number; output: string }> {
  const process = startProcess(args, options);
  const code = await process.exit();
  return { code, output: process.log() };
}

/** Waits until `holds` returns true. Throws after a minute. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 1200; round++) {
    if (await holds()) return;
    await Bun.sleep(50);
  }
  throw new Error('it did not happen within a minute');
}

/** Sends a request with a JSON body. Returns the status and the JSON of the answer. */
export async function call(
  url: string,
  options: { readonly body?: unknown; readonly credentials?: string } = {},
): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await fetch(url, {
    method: options.body === undefined ? 'GET' : 'POST',
    headers: {
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.credentials ? { authorization: `Bearer ${options.credentials}` } : {}),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}
