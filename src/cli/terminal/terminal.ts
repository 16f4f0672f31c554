import { closeSync, constants, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { codeOf } from '../../lib/error-code.ts';
import type { Terminal } from '../io.ts';

/** The exit code of a program that Ctrl-C ended, as shells have it. */
const INTERRUPTED = 130;
const ERASE_LINE = '\r\u001b[K';

/** Returns the terminal that this process runs in. */
export function openTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    columns: stdout.isTTY ? stdout.columns : null,
    canAsk: stdin.isTTY === true && stdout.isTTY === true,
    ask(question) {
      dropTypedAhead(stdin);
      stderr.write(question);
      // The terminal itself edits the line, so that Ctrl-C reaches the program as a signal.
      const lines = createInterface({ input: stdin, terminal: false });
      return new Promise((resolve) => {
        lines.once('line', (line) => resolve(line));
        lines.once('close', () => resolve(null));
      }).finally(() => {
        lines.close();
        stdin.pause();
      }) as Promise<string | null>;
    },
    progress(text) {
      if (stderr.isTTY) stderr.write(`${ERASE_LINE}${text ?? ''}`);
    },
    onInterrupt(act) {
      const interrupted = () => {
        act();
        process.exit(INTERRUPTED);
      };
      process.on('SIGINT', interrupted);
      return () => void process.off('SIGINT', interrupted);
    },
  };
}

/** Reads away what was typed before a question was shown, so that only an answer to it counts. */
function dropTypedAhead(stdin: NodeJS.ReadStream): void {
  const file = openTerminalFile();
  if (file === null) return;
  try {
    // A line without its end is given out in raw mode alone.
    stdin.setRawMode(true);
    while (readSync(file, new Uint8Array(4096)) > 0);
  } catch (error) {
    // Nothing is left to read.
    if (codeOf(error) !== 'EAGAIN') throw error;
  } finally {
    stdin.setRawMode(false);
    closeSync(file);
  }
}

/** Opens the terminal for reading what is there without waiting; null where the system has no such file. */
function openTerminalFile(): number | null {
  try {
    return openSync('/dev/tty', constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}
