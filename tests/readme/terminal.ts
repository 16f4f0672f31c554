import { until } from '../support/until.ts';

/** A shell that runs what it is given as a person's terminal does. */
export interface Terminal {
  /** Gives it a block of commands, once what it ran before has ended. */
  run(script: string): Promise<void>;
  /** Waits until what it was given last has ended. Resolves to the exit codes of the commands that failed. */
  ended(): Promise<readonly number[]>;
  /** Waits until a text stands in what was printed since the last block began. */
  sees(text: string): Promise<void>;
  /** Presses Ctrl-C. */
  interrupt(): void;
  /** Everything that was printed, errors included. */
  output(): string;
  /** Ends the shell and everything that runs in it. */
  close(): Promise<void>;
}

/** Lines that the shell prints for the test; what is printed between them is for the reader. */
const ENDED = '@@@ ended';
const FAILED = '@@@ failed';
/** The exit code of what Ctrl-C ended. */
const INTERRUPTED = 130;
/** How long after its end what a block printed is waited for. */
const LATE_MS = 2000;

/** Opens a terminal. */
export function openTerminal(options: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Terminal {
  const child = Bun.spawn(['bash'], {
    ...options,
    // A group of its own, as a terminal gives it, so that Ctrl-C reaches everything in it and nothing else.
    detached: true,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    void (async () => {
      const decoder = new TextDecoder();
      for await (const bytes of stream) printed += decoder.decode(bytes, { stream: true });
    })();
  }
  let blocks = 0;
  let began = 0;
  const marker = () => `${ENDED} ${blocks}\n`;

  function write(text: string): void {
    child.stdin.write(text);
    child.stdin.flush();
  }
  function signal(name: NodeJS.Signals): void {
    try {
      process.kill(-child.pid, name);
    } catch {
      // Nothing of the group is left.
    }
  }
  /** Waits for something in the output. The end of the last block, and of the shell, is the end of waiting. */
  async function awaits(what: string, seen: () => boolean): Promise<void> {
    const over = () => child.exitCode !== null || printed.includes(marker());
    await until(() => seen() || over()).catch(() => undefined);
    // One stream is read before the other, and what was printed last may be read after the end is known.
    if (!seen()) await until(seen, what, LATE_MS).catch(() => undefined);
    if (!seen()) throw new Error(`The terminal did not print ${what}, but:\n${printed}`);
  }

  // The shell goes on after Ctrl-C, as one that a person uses does.
  write(`trap : INT; trap 'echo "${FAILED} $?"' ERR\n`);
  const terminal: Terminal = {
    async run(script) {
      if (blocks > 0) await terminal.ended();
      blocks += 1;
      began = printed.length;
      write(`${script}\necho; echo '${ENDED} ${blocks}'\n`);
    },
    async ended() {
      await awaits(`the end of block ${blocks}`, () => printed.includes(marker()));
      const codes = printed.slice(began).matchAll(new RegExp(`^${FAILED} (\\d+)$`, 'gm'));
      return [...codes].map(([, code]) => Number(code)).filter((code) => code !== INTERRUPTED);
    },
    sees: (text) => awaits(text, () => printed.slice(began).includes(text)),
    interrupt: () => signal('SIGINT'),
    output: () => printed,
    async close() {
      signal('SIGTERM');
      const kill = setTimeout(() => signal('SIGKILL'), 10_000);
      child.stdin.end();
      await child.exited;
      clearTimeout(kill);
    },
  };
  return terminal;
}
