import { join } from 'node:path';
import { until } from './until.ts';

/** The checkout. */
export const ROOT = join(import.meta.dir, '..', '..');

/** The compiled binary; it must have been built (`npm test` does). */
export const BINARY = join(ROOT, 'dist', 'wallet-sidecar');

/** Longest time, milliseconds, that a program may take to end. */
const PATIENCE_MS = 50_000;

/** An environment with a search path and a home that does not exist, in which no block comes by itself. */
export const BARE_ENV: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  SERVICE_SANDBOX_BLOCK_SECS: '0',
};

/** How the binary is started. */
export interface StartOptions {
  /** Its whole environment; {@link BARE_ENV} unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Its working directory; `/` unless given, so that no `.env` is found. */
  readonly cwd?: string;
  /** A command that it is run by, such as setpriv. */
  readonly before?: readonly string[];
  readonly stdin?: string;
  /** Is shown the output as it comes, one whole line or more at a time. */
  readonly onOutput?: (lines: string) => void;
}

/** The compiled binary, started with any arguments. */
export interface SidecarProcess {
  readonly pid: number;
  /** What it wrote so far, to stdout and stderr. */
  log(): string;
  stdout(): string;
  stderr(): string;
  running(): boolean;
  /** The base URL, once it is ready; throws with the log when it ends before. */
  ready(): Promise<string>;
  /**
   * Resolves once it answers at that base URL with a health status that `isReady` accepts, any unless given; throws
   * with the log when it ends before.
   */
  answers(baseUrl: string, isReady?: (status: string) => boolean): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** The exit code, once everything it wrote was read; throws when it does not end in time. */
  exit(): Promise<number>;
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

/** How a command ended and what it wrote. */
export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams, in the order in which they were read. */
  readonly output: string;
}

/** Starts the binary: the one place of the tests that does. */
export function startBinary(args: readonly string[], options: StartOptions = {}): SidecarProcess {
  const child = Bun.spawn([...(options.before ?? []), BINARY, ...args], {
    env: options.env ?? BARE_ENV,
    cwd: options.cwd ?? '/',
    stdin: options.stdin === undefined ? 'ignore' : new Blob([options.stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let log = '';
  const written = { stdout: '', stderr: '' };
  const collect = async (name: keyof typeof written) => {
    const decoder = new TextDecoder();
    const show = (text: string) => {
      if (text === '') return;
      options.onOutput?.(text);
      written[name] += text;
      log += text;
    };
    let line = '';
    for await (const chunk of child[name]) {
      line += decoder.decode(chunk, { stream: true });
      const end = line.lastIndexOf('\n') + 1;
      show(line.slice(0, end));
      line = line.slice(end);
    }
    show(line);
  };
  const read = Promise.all([collect('stdout'), collect('stderr')]);
  const running = () => child.exitCode === null && child.signalCode === null;
  const exit = async () => {
    const ended = await Promise.race([child.exited, Bun.sleep(PATIENCE_MS)]);
    if (ended === undefined) throw new Error(`the sidecar did not end in time: ${log}`);
    await read;
    return ended;
  };
  return {
    pid: child.pid,
    log: () => log,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    running,
    async ready() {
      // The trial wallet is funded after the server is ready; what says so comes by another pipe than the URL.
      const isFunded = () => args[0] !== 'dev' || /A sandbox wallet is ready/.test(log);
      const said = () => /is ready.* url=(\S+)/.exec(log)?.[1]?.replaceAll('"', '');
      await until(() => (isFunded() && said()) || !running(), 'the sidecar was ready');
      if (!running()) await read;
      const url = said();
      if (url === undefined || !running()) throw new Error(`the sidecar did not start: ${log}`);
      return url;
    },
    async answers(baseUrl, isReady = () => true) {
      const answered = async () => {
        const answer = await fetch(`${baseUrl}/v2/health`).catch(() => null);
        if (answer?.ok !== true) return false;
        const { status } = (await answer.json()) as { status: string };
        return isReady(status);
      };
      await until(async () => (await answered()) || !running(), 'the sidecar answered');
      if (!running()) throw new Error(`the sidecar did not start: ${await read.then(() => log)}`);
    },
    signal: (name) => child.kill(name),
    exit,
    stop() {
      child.kill('SIGTERM');
      return exit();
    },
    async kill() {
      child.kill('SIGKILL');
      await exit();
    },
  };
}

/** The binary on a terminal, with a person before it. */
export interface TerminalProcess {
  /** Everything that the terminal was sent so far, as it was sent. */
  screen(): string;
  /** Resolves once the screen holds this; throws with the screen when the program ends before. */
  shows(text: string | RegExp): Promise<void>;
  /** Types, as with a keyboard: `\u0003` is Ctrl-C. */
  type(text: string): void;
  /** The exit code, once everything it wrote was read. */
  exit(): Promise<number>;
}

/** Starts the binary on a terminal of its own, as wide as asked for. */
export function startOnTerminal(
  args: readonly string[],
  { columns, env = BARE_ENV }: { readonly columns: number } & Pick<StartOptions, 'env'>,
): TerminalProcess {
  let screen = '';
  const decoder = new TextDecoder();
  const closed = Promise.withResolvers<void>();
  const child = Bun.spawn([BINARY, ...args], {
    env: { TERM: 'xterm-256color', ...env },
    cwd: '/',
    terminal: {
      cols: columns,
      rows: 40,
      data: (_, bytes) => {
        screen += decoder.decode(bytes, { stream: true });
      },
      exit: () => closed.resolve(),
    },
  });
  const has = (text: string | RegExp) =>
    typeof text === 'string' ? screen.includes(text) : text.test(screen);
  return {
    screen: () => screen,
    async shows(text) {
      const running = () => child.exitCode === null && child.signalCode === null;
      await until(() => has(text) || !running(), `the terminal showed ${text}`);
      if (!has(text)) throw new Error(`the program ended before it showed ${text}: ${screen}`);
    },
    type: (text) => void child.terminal?.write(text),
    async exit() {
      const ended = await Promise.race([child.exited, Bun.sleep(PATIENCE_MS)]);
      if (ended === undefined) throw new Error(`the program did not end in time: ${screen}`);
      await closed.promise;
      return ended;
    },
  };
}

/**
 * What a command that ends soon is run with besides its environment: it is interpreted, since compilers that start for
 * it take as much of the processor as the command itself. What runs on is compiled as everywhere.
 */
const INTERPRETED = { BUN_JSC_useJIT: '0' };

/** Runs the binary to its end, without blocking servers of the test. */
export async function runBinary(
  args: readonly string[],
  options: StartOptions = {},
): Promise<Ended> {
  const env = { ...INTERPRETED, ...(options.env ?? BARE_ENV) };
  const child = startBinary(args, { ...options, env });
  try {
    const exitCode = await child.exit();
    return { exitCode, stdout: child.stdout(), stderr: child.stderr(), output: child.log() };
  } finally {
    child.signal('SIGKILL');
  }
}
