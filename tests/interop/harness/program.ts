import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Subprocess } from 'bun';
import type { Reaper } from './reaper.ts';

/** A program that a test can start, end and start again. Its output goes to one log file. */
export interface Program {
  /** Starts it, with these flags after its own. Throws while it is still running. */
  start(flags?: readonly string[]): void;
  /** Ends it with SIGTERM and resolves when it has ended. Does nothing when it is not running. */
  stop(): Promise<void>;
  /** Ends it with SIGKILL, as a crash or a power cut would. Does nothing when it is not running. */
  kill(): Promise<void>;
  /** Stops its work until {@link resume}; its connections stay open. Does nothing when it is not running. */
  pause(): void;
  resume(): void;
  /** Throws, with the end of the log, unless it is running. */
  assertRunning(): void;
}

const LOG_TAIL_CHARACTERS = 3_000;

/** A program with a fixed command line. `logPath` receives all its output. */
export function program(command: readonly string[], logPath: string, reaper: Reaper): Program {
  let child: Subprocess | null = null;
  // onExit does not reset it, because that runs only after `exited` has resolved.
  const running = (): Subprocess | null =>
    child !== null && child.exitCode === null && child.signalCode === null ? child : null;

  async function end(act: (ending: Subprocess) => void): Promise<void> {
    const ending = running();
    if (ending === null) return;
    act(ending);
    await ending.exited;
  }

  function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    const paused = running();
    if (paused !== null) process.kill(-paused.pid, name);
  }

  return {
    start(flags = []) {
      if (running() !== null) throw new Error(`${command[0]} is running already; stop it first.`);
      const log = openSync(logPath, 'a');
      child = Bun.spawn([...command, ...flags], {
        stdin: 'ignore',
        stdout: log,
        stderr: log,
        // In a process group of its own.
        detached: true,
        onExit: (exited) => reaper.forget(exited.pid),
      });
      closeSync(log);
      reaper.watch(child.pid);
    },
    stop: () => end((ending) => ending.kill('SIGTERM')),
    // With the processes that it started, which would keep its ports for some seconds.
    kill: () => end(({ pid }) => process.kill(-pid, 'SIGKILL')),
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    assertRunning() {
      if (running() !== null) return;
      const tail = readFileSync(logPath, 'utf8').slice(-LOG_TAIL_CHARACTERS);
      throw new Error(`${command[0]} has ended. The end of its log:\n${tail}`);
    },
  };
}
