import { join } from 'node:path';

const BINARY = join(import.meta.dir, '..', '..', 'dist', 'wallet-sidecar');

/** The result of a command. */
export interface Ran {
  readonly exitCode: number;
  /** Without the line feed at the end. */
  readonly stdout: string;
  readonly stderr: string;
}

/** JSON whose members the tests check one by one. */
export type Json = ReturnType<JSON['parse']>;

/** A sandbox sidecar that keeps everything in memory, and functions that run commands against it. */
export interface CliWorld {
  readonly baseUrl: string;
  /** Credentials of a second, funded wallet. */
  readonly bob: string;
  /** Runs a command as the default wallet. */
  run(...args: readonly string[]): Promise<Ran>;
  /** Runs a command with `--json`, which must end with exit code 0. Resolves to the JSON that it printed. */
  json(...args: readonly string[]): Promise<Json>;
  /** Calls the API. Resolves to the body; throws for an error. */
  api(method: string, path: string, body?: unknown, credentials?: string): Promise<Json>;
  /** Resolves to the exact text of the body of a GET. */
  text(path: string): Promise<string>;
  close(): Promise<void>;
}

/** Runs the compiled binary in the given environment only. */
export async function runBinary(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin = '',
  cwd = '/',
): Promise<Ran> {
  const child = Bun.spawn([BINARY, ...args], {
    cwd,
    env,
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { exitCode, stdout: stdout.replace(/\n$/, ''), stderr: stderr.replace(/\n$/, '') };
}

/** Starts `dev` on a port that the system chooses. The binary must have been built, as `npm test` does. */
export async function openCliWorld(flags: readonly string[] = []): Promise<CliWorld> {
  const child = Bun.spawn(
    [BINARY, 'dev', '--data-dir', ':memory:', '--listen-addr', '127.0.0.1:0', ...flags],
    {
      cwd: '/',
      env: { SERVICE_SANDBOX_BLOCK_SECS: '0' },
      stdout: 'pipe',
      stderr: 'inherit',
    },
  );
  const baseUrl = await readUrl(child.stdout);
  const env = { SERVICE_SIDECAR_URL: baseUrl };
  const api: CliWorld['api'] = async (method, path, body, credentials) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(credentials ? { authorization: `Bearer ${credentials}` } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.json();
  };
  const { client_credentials } = await api('POST', '/sandbox/wallets', {});
  return {
    baseUrl,
    bob: client_credentials,
    api,
    run: (...args) => runBinary(args, env),
    async json(...args) {
      const ran = await runBinary([...args, '--json'], env);
      if (ran.exitCode !== 0) throw new Error(`${args.join(' ')}: ${ran.stderr}`);
      return JSON.parse(ran.stdout);
    },
    text: async (path) => (await fetch(`${baseUrl}${path}`)).text(),
    async close() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

/** Reads the log until the trial wallet is funded. It goes on reading, so that the sidecar never waits to write. */
async function readUrl(stream: ReadableStream<Uint8Array>): Promise<string> {
  const found = Promise.withResolvers<string>();
  const read = async () => {
    let log = '';
    for await (const chunk of stream) {
      log += new TextDecoder().decode(chunk);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0];
      if (url && log.includes('A sandbox wallet is ready.')) found.resolve(url);
    }
    found.reject(new Error(`the sidecar did not start: ${log}`));
  };
  void read();
  return found.promise;
}
