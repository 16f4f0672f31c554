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
  /** What came before the other side was there. */
  readonly early: Buffer[];
  /** What did not fit into this socket yet. */
  readonly unsent: Buffer[];
  readonly isClient: boolean;
}

const newSide = (isClient: boolean, other: Side['other'] = null): Side => ({
  other,
  early: [],
  unsent: [],
  isClient,
});

function send(to: Bun.Socket<Side>, bytes: Buffer): void {
  const { unsent } = to.data;
  const written = unsent.length > 0 ? 0 : Math.max(to.write(bytes), 0);
  if (written < bytes.length) unsent.push(Buffer.from(bytes.subarray(written)));
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
    if (from.data.other) send(from.data.other, bytes);
    else from.data.early.push(Buffer.from(bytes));
  };
  const handlers: Bun.SocketHandler<Side> = {
    data: pass,
    drain(socket) {
      for (const bytes of socket.data.unsent.splice(0)) send(socket, bytes);
      if (socket.data.unsent.length === 0 && socket.data.other && !sockets.has(socket.data.other))
        socket.end();
    },
    close(socket) {
      sockets.delete(socket);
      const { other } = socket.data;
      if (other?.data.unsent.length === 0) other.end();
    },
    error: () => undefined,
  };
  const listener = Bun.listen<Side>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      ...handlers,
      open(client) {
        client.data = newSide(true);
        sockets.add(client);
        if (refusing) {
          client.terminate();
          return;
        }
        void Bun.connect<Side>({
          hostname: '127.0.0.1',
          port: target,
          data: newSide(false, client),
          socket: handlers,
        }).then(
          (server) => {
            if (refusing || !sockets.has(client)) {
              // The client was ended meanwhile, and will end nothing.
              server.terminate();
              return;
            }
            if (silent) return;
            sockets.add(server);
            client.data.other = server;
            for (const bytes of client.data.early) send(server, bytes);
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
