import { connect, type Socket } from 'node:net';

/** Many connections without a request. */
export interface Flood {
  /** Opens no further connections; those that are open stay. */
  stay(): void;
  stop(): void;
}

/**
 * Opens `count` connections, sends `sent` on each, then `drop` each second, and reopens each one that the server closes.
 */
export function startFlood(port: number, count: number, sent: string, drop = ''): Flood {
  const open = new Set<Socket>();
  let stopped = false;
  const dropping = setInterval(() => {
    if (drop !== '') for (const socket of open) socket.write(drop);
  }, 1000);
  const flood = () => {
    const socket = connect(port, '127.0.0.1', () => {
      if (sent !== '') socket.write(sent);
    });
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      if (!stopped) setTimeout(() => flood(), 50);
    });
    socket.resume();
  };
  for (let i = 0; i < count; i++) flood();
  return {
    stay() {
      stopped = true;
    },
    stop() {
      stopped = true;
      clearInterval(dropping);
      for (const socket of open) socket.destroy();
    },
  };
}
