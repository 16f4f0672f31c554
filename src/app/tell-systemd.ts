import type { Log } from '../lib/log.ts';

/**
 * Tells systemd that this service answers (`Type=notify`), so that `systemctl start` returns only then. Does nothing
 * unless systemd itself started this very process: a child of another service has that one's variables
 * (docs/decisions.md 135). Never throws.
 */
export async function tellSystemd(env: typeof process.env, log: Log): Promise<void> {
  const { NOTIFY_SOCKET: socket, SYSTEMD_EXEC_PID: started } = env;
  if (!socket || started !== String(process.pid)) return;
  try {
    // The runtime has no sockets of this kind, so systemd's own program sends the message.
    const child = Bun.spawn(['systemd-notify', '--ready'], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    });
    const exitCode = await child.exited;
    if (exitCode !== 0) throw new Error(`systemd-notify ended with ${exitCode}.`);
  } catch (error) {
    log.warn(
      'systemd was not told that the service answers, and may end it: check systemd-notify.',
      {
        error,
      },
    );
  }
}
