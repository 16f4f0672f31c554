import { connect, type Socket } from 'node:net';

/** Many connections without a request. */
export interface Flood {
  /** Resolves when each connection has been connected at least once. */
  readonly connected: Promise<void>;
  stop(): void;
}

/** Opens `count` connections, sends `sent` on each, and reopens each one that the server closes. */
export function startFlood(port: number, count: number, sent: string): Flood {
  const open = new Set<Socket>();
  const connected = Promise.withResolvers<void>();
  let missing = count;
  let stopped = false;
  const flood = (isFirst: boolean) => {
    const socket = connect(port, '127.0.0.1', () => {
      if (sent !== '') socket.write(sent);
      if (isFirst && --missing === 0) connected.resolve();
    });
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      if (!stopped) setTimeout(() => flood(false), 50);
    });
    socket.resume();
  };
  for (let i = 0; i < count; i++) flood(true);
  return {
    connected: connected.promise,
    stop() {
      stopped = true;
      for (const socket of open) socket.destroy();
    },
  };
}
