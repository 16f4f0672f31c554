/**
 * The script of the reaper. It reads lines "watch PID" and "forget PID". When its input closes, which also happens when
 * the test run is killed, crashes or times out, it kills the process groups that it still watches and removes the folder. A
 * terminal's Ctrl-C reaches it too and must not end it before that.
 */
const SCRIPT = `
trap '' HUP INT TERM
watched=
while read -r verb pid; do
  case $verb in
    watch) watched="$watched -$pid" ;;
    forget) kept=
      for other in $watched; do [ "$other" = "-$pid" ] || kept="$kept $other"; done
      watched=$kept ;;
  esac
done
[ -z "$watched" ] || kill -s KILL -- $watched
for attempt in 1 2 3 4 5; do rm -rf "$1" && break; sleep 0.2; done
`;

/** Makes sure that no process and no folder of a test remains after the test run. */
export interface Reaper {
  /** The process and its group will be killed when the run ends, in whichever way it ends. */
  watch(pid: number): void;
  /** The process has ended by itself, so another process may get its number. */
  forget(pid: number): void;
  /** Kills the watched process groups, removes the folder, and resolves when both are done. */
  reap(): Promise<void>;
}

/** Starts the reaper of `folder`; needs a POSIX `sh`. */
export function startReaper(folder: string): Reaper {
  const shell = Bun.spawn(['sh', '-c', SCRIPT, 'reaper', folder], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const tell = (line: string): void => {
    shell.stdin.write(`${line}\n`);
    void shell.stdin.flush();
  };
  return {
    watch: (pid) => tell(`watch ${pid}`),
    forget: (pid) => tell(`forget ${pid}`),
    async reap() {
      await shell.stdin.end();
      await shell.exited;
    },
  };
}
