import type { Terminal } from '../io.ts';

/** How long a call may take before the person at the terminal is told that it goes on. */
const QUIET_MS = 1000;

/** Waits for a call. After a second the terminal shows what is done and for how long, until the call ends. */
export async function withProgress<T>(
  terminal: Terminal,
  doing: string,
  call: () => Promise<T>,
): Promise<T> {
  let secs = 0;
  const timer = setInterval(() => {
    secs += 1;
    terminal.progress(`${doing}... ${secs} s`);
  }, QUIET_MS);
  try {
    return await call();
  } finally {
    clearInterval(timer);
    if (secs > 0) terminal.progress(null);
  }
}
