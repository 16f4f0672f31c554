import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A SOCKS5 proxy on loopback, for which every name is this machine. */
export interface SocksServer {
  /** `host:port` */
  readonly address: string;
  readonly host: string;
  readonly port: number;
  /** The `host:port` that were asked for, in order. */
  readonly asked: readonly string[];
  /** From now on answers that the host cannot be reached, or no longer so. */
  refuse(refuses: boolean): void;
  stop(): void;
}

const VERSION = 5;
const CONNECT = 1;
const NAME = 3;
const IPV4 = 1;
const HOST_UNREACHABLE = 4;

/**
 * Starts the proxy (RFC 1928, without authentication). `portOf` says which port of this machine stands for the one that
 * is asked for.
 */
export async function startSocksServer(
  portOf: (port: number) => number = (port) => port,
): Promise<SocksServer> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  let refuses = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const serve = async (client: Socket): Promise<void> => {
    const [greeting] = (await once(client, 'data')) as [Buffer];
    if (greeting[0] !== VERSION) return void client.destroy();
    client.write(Buffer.of(VERSION, 0));
    const [request] = (await once(client, 'data')) as [Buffer];
    const target = targetOf(request);
    if (target === null) return void client.destroy();
    asked.push(`${target.host}:${target.port}`);
    const reply = Buffer.of(VERSION, refuses ? HOST_UNREACHABLE : 0, 0, IPV4, 0, 0, 0, 0, 0, 0);
    if (refuses) return void client.end(reply);
    const inner = keep(connect(portOf(target.port), '127.0.0.1', () => client.write(reply)));
    inner.once('close', () => client.destroy());
    client.once('close', () => inner.destroy());
    client.pipe(inner).pipe(client);
  };
  const server = createServer((client) => {
    serve(keep(client)).catch(() => client.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    address: `127.0.0.1:${port}`,
    host: '127.0.0.1',
    port,
    asked,
    refuse(next) {
      refuses = next;
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The target of a request to connect; null for any other request. */
function targetOf(request: Buffer): { host: string; port: number } | null {
  if (request[0] !== VERSION || request[1] !== CONNECT) return null;
  if (request[3] === IPV4) {
    return { host: request.subarray(4, 8).join('.'), port: request.readUInt16BE(8) };
  }
  if (request[3] !== NAME) return null;
  const end = 5 + (request[4] ?? 0);
  return { host: request.subarray(5, end).toString(), port: request.readUInt16BE(end) };
}
