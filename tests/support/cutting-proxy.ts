/** A TCP proxy in front of PostgreSQL that cuts a connection at a certain moment. */
export interface CuttingProxy {
  readonly port: number;
  /**
   * Cuts the next connection on which that side says `COMMIT`, in the place of passing it on. When the server says it,
   * the transaction is committed, and only its client does not know. Before the client says it by name, the connection
   * must be new.
   */
  cutAtCommit(side: 'client' | 'server'): void;
  /** How many connections were cut. */
  cuts(): number;
  /** Passes nothing on and ends nothing, as when the machine behind it is gone, or does so again. */
  silence(on: boolean): void;
  /** Refuses and ends all connections, or takes them again. */
  refuse(on: boolean): void;
  stop(): void;
}

interface Side {
  other: Bun.Socket<Side> | null;
  readonly early: Buffer[];
  readonly isClient: boolean;
}

/** Starts a proxy to that port of this machine. */
export function cuttingProxy(target: number): CuttingProxy {
  let armed: 'client' | 'server' | null = null;
  let cuts = 0;
  let refusing = false;
  let silent = false;
  const sockets = new Set<Bun.Socket<Side>>();
  const pass = (from: Bun.Socket<Side>, bytes: Buffer) => {
    if (silent) return;
    const side = from.data.isClient ? 'client' : 'server';
    if (armed === side && bytes.includes('COMMIT')) {
      armed = null;
      cuts += 1;
      from.data.other?.terminate();
      from.terminate();
      return;
    }
    if (from.data.other) from.data.other.write(bytes);
    else from.data.early.push(Buffer.from(bytes));
  };
  const handlers: Bun.SocketHandler<Side> = {
    data: pass,
    close(socket) {
      sockets.delete(socket);
      socket.data.other?.end();
    },
    error: () => undefined,
  };
  const listener = Bun.listen<Side>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      ...handlers,
      open(client) {
        client.data = { other: null, early: [], isClient: true };
        sockets.add(client);
        if (refusing) {
          client.terminate();
          return;
        }
        void Bun.connect<Side>({
          hostname: '127.0.0.1',
          port: target,
          data: { other: client, early: [], isClient: false },
          socket: handlers,
        }).then(
          (server) => {
            if (silent) return;
            sockets.add(server);
            client.data.other = server;
            for (const bytes of client.data.early) server.write(bytes);
          },
          () => client.terminate(),
        );
      },
    },
  });
  return {
    port: listener.port,
    cutAtCommit(side) {
      armed = side;
    },
    cuts: () => cuts,
    silence(on) {
      silent = on;
    },
    refuse(on) {
      refusing = on;
      if (on) for (const socket of sockets) socket.terminate();
    },
    stop: () => listener.stop(true),
  };
}
