import { writeSync } from 'node:fs';
import { codeOf } from '../../lib/error-code.ts';
import type { CliIo } from '../io.ts';

const STDOUT = 1;
const STDERR = 2;
/** How long a pipe that is full is left alone before the rest is written, in milliseconds. */
const FULL_PIPE_MS = 5;

/**
 * Returns the function that writes a line to stdout before it returns. When a line cannot be written, as on a full
 * disk, stderr says so once, and the program ends with exit code 1: what is lost may be a secret that is shown once.
 * A reader that has ended, such as `head`, is no failure.
 */
export function stdoutWriter(stderr: CliIo['stderr']): CliIo['stdout'] {
  let isLost = false;
  return (line) => {
    if (isLost) return false;
    try {
      writeWhole(`${line}\n`);
      return true;
    } catch (error) {
      isLost = true;
      if (codeOf(error) === 'EPIPE') return false;
      process.exitCode = 1;
      stderr(
        `The output could not be written (${codeOf(error) || 'unknown error'}), so what was printed is lost. The command itself was carried out: check the disk or the file, and look at what it did before you repeat it.`,
      );
      return false;
    }
  };
}

function writeWhole(text: string): void {
  let rest: Uint8Array = new TextEncoder().encode(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STDOUT, rest));
    } catch (error) {
      // The reader of a pipe that does not block is slower than this program.
      if (codeOf(error) !== 'EAGAIN') throw error;
      Bun.sleepSync(FULL_PIPE_MS);
    }
  }
}

/**
 * Returns the function that writes a line to stderr. The runtime writes what goes to `console.error` in red on a
 * terminal, although most of it are hints and not errors.
 */
export function stderrWriter(): CliIo['stderr'] {
  return process.stderr.isTTY
    ? (line) => void writeSync(STDERR, `${line}\n`)
    : (line) => console.error(line);
}
