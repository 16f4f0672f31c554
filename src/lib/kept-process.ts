import { backoffDelayMs } from './backoff.ts';
import { codeOf } from './error-code.ts';
import type { Log } from './log.ts';

/** A process that has lines to say and to be told. */
export interface LineProcess {
  /** Writes one line, which must hold no line end. */
  readonly tell: (line: string) => void;
  /** Ends the process at once. */
  readonly kill: () => void;
}

interface KeptOptions {
  /** The name of the process in sentences, such as `The LDK node`. */
  readonly title: string;
  /**
   * Returns the path of the program, which must be what it was: it is called before each start. What it throws is told
   * as the problem.
   */
  readonly program: () => Promise<string>;
  /** What it finds in its environment besides what this process has. */
  readonly env: Readonly<Record<string, string>>;
  /** Called when the process runs. What it returns is given each line, and told when the process is gone. */
  readonly started: (process: LineProcess) => {
    readonly line: (text: string) => void;
    readonly gone: () => void;
  };
  readonly log: Pick<Log, 'debug' | 'warn'>;
  /** A monotonic time in milliseconds. */
  readonly elapsedMs: () => number;
  readonly random: () => number;
  /** Waits so many milliseconds, or until the signal. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The longest line that is read. A process that says more without an end is ended. */
const MOST_LINE_CHARACTERS = 1024 * 1024;
/** A process that ended so often within this time is not started again. */
const MOST_ENDS = 10;
const ENDS_WITHIN_MS = 10 * 60_000;
/** A process whose input has ended has this long to stop by itself. */
const STOPS_WITHIN_MS = 30_000;

/**
 * Keeps one process running until it is closed: it starts again after a growing pause, and not any more after ten ends
 * within ten minutes. The end of its input is its sign to stop, so it also stops when this process is killed.
 */
export class KeptProcess {
  readonly #options: KeptOptions;
  readonly #closing = new AbortController();
  readonly #run: Promise<void>;
  #problem: string | null = null;
  #isGivenUp = false;
  #stop: (() => Promise<void>) | null = null;

  constructor(options: KeptOptions) {
    this.#options = options;
    this.#run = this.#keep();
  }

  /** Why the process does not run, as a sentence for health; null while it runs. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether it is not started any more. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Ends the input of the process and waits until it has stopped, for half a minute at most. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#stop?.();
    await this.#run;
  }

  async #keep(): Promise<void> {
    const { title, log, elapsedMs, random } = this.#options;
    const { signal } = this.#closing;
    let endedAtMs: number[] = [];
    while (!signal.aborted) {
      const error = await this.#once().catch((cause: unknown) => cause);
      if (signal.aborted) return;
      const nowMs = elapsedMs();
      endedAtMs = [...endedAtMs.filter((atMs) => atMs > nowMs - ENDS_WITHIN_MS), nowMs];
      if (endedAtMs.length > MOST_ENDS) {
        const last = error instanceof NotStarted ? ` ${error.message}` : '';
        this.#problem = `${title} ended ${endedAtMs.length} times within ten minutes and is not started again: read the log, mend the cause and restart the sidecar.${last}`;
        this.#isGivenUp = true;
        log.warn(this.#problem);
        return;
      }
      const pauseMs = backoffDelayMs(endedAtMs.length, {
        ...{ firstMs: 200, mostMs: 30_000, jitter: 0.2 },
        random,
      });
      this.#problem =
        error instanceof NotStarted ? error.message : `${title} ended and is started again.`;
      log.warn(this.#problem, { pauseMs, ...(error instanceof Error ? { error } : {}) });
      await this.#options.sleep(pauseMs, signal);
    }
  }

  /** Runs the process once, until it is gone. */
  async #once(): Promise<void> {
    const child = await this.#spawned();
    this.#stop = async () => {
      child.stdin.end();
      const isGone = child.exited.then(() => true);
      // The timer must not keep the program running once the process is gone.
      const waiting = new AbortController();
      const isLate = this.#options.sleep(STOPS_WITHIN_MS, waiting.signal).then(() => false);
      const isStopped = await Promise.race([isGone, isLate]);
      waiting.abort();
      if (isStopped) return;
      child.kill('SIGKILL');
      await isGone;
    };
    if (this.#closing.signal.aborted) void this.#stop();
    const heard = this.#options.started({
      tell(line) {
        child.stdin.write(`${line}\n`);
        // A process that does not read any more has ended, which is noticed below.
        void Promise.resolve(child.stdin.flush()).catch(() => undefined);
      },
      kill: () => child.kill('SIGKILL'),
    });
    this.#problem = null;
    const { log, title } = this.#options;
    try {
      await Promise.all([
        eachLine(child.stdout, heard.line),
        eachLine(child.stderr, (text) => log.debug(`${title}: ${text}`)),
      ]);
      await child.exited;
    } finally {
      child.kill('SIGKILL');
      this.#stop = null;
      heard.gone();
    }
  }

  async #spawned() {
    const { title, program, env } = this.#options;
    let path = '';
    try {
      path = await program();
      return Bun.spawn([path], {
        ...{ stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
        env: { ...process.env, ...env },
      });
    } catch (error) {
      throw new NotStarted(notStarted(title, path, error), { cause: error });
    }
  }
}

/** The process could not be started; the message is a sentence for health. */
class NotStarted extends Error {}

function notStarted(title: string, path: string, error: unknown): string {
  if (path === '') return `${title} cannot be started. ${(error as Error).message}`;
  return codeOf(error) === 'EACCES'
    ? `${title} cannot be started, since ${path} may not be run: its file system is perhaps mounted with noexec. Allow it there, or move the data directory.`
    : `${title} cannot be started from ${path} (${codeOf(error)}): check that file and its disk.`;
}

async function eachLine(
  stream: ReadableStream<Uint8Array>,
  line: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) line(text);
    if (rest.length > MOST_LINE_CHARACTERS) throw new Error('A line has no end.');
  }
}
