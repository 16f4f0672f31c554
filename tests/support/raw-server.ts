import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';

const file = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
/** A self-signed certificate for 127.0.0.1 and localhost; its key is used in tests only. */
export const CERT = file('server-cert.pem');
export const KEY = file('server-key.pem');

/** What a server does with a connection after the first bytes of a request have arrived. */
export type Behavior = (socket: TLSSocket, request: string) => void;

/** A TLS server whose answers a test writes byte by byte. */
export interface RawServer {
  readonly url: string;
  /** The first lines of the requests. */
  readonly requests: readonly string[];
  readonly open: () => number;
  behave(behavior: Behavior): void;
  stop(): void;
}

/** Starts a server on loopback. */
export async function startRawServer(): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<TLSSocket>();
  let behavior: Behavior = (socket) => socket.destroy();
  const server = createServer({ cert: CERT, key: KEY }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    socket.once('data', (data) => {
      const request = data.toString();
      requests.push(request.split('\r\n')[0] ?? '');
      behavior(socket, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    requests,
    open: () => sockets.size,
    behave(next) {
      behavior = next;
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/**
 * Writes `chunk` until `mostBytes` are written or the other side disconnects. Returns a function for the number of
 * bytes written.
 */
export function pour(socket: TLSSocket, chunk: Buffer, mostBytes: number): () => number {
  let written = 0;
  const more = () => {
    while (!socket.destroyed && written < mostBytes) {
      written += chunk.length;
      if (!socket.write(chunk)) {
        socket.once('drain', more);
        return;
      }
    }
    if (!socket.destroyed) socket.end();
  };
  more();
  return () => written;
}

export const head = (status: string, ...lines: string[]) =>
  [`HTTP/1.1 ${status}`, ...lines, '', ''].join('\r\n');
