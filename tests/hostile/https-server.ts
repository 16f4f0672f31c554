import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { freePort } from '../support/ports.ts';
import type { ServerCertificate } from './certificates.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** An HTTPS server on loopback that keeps its port over restarts and can drop all connections. */
export class HttpsServer {
  readonly certificate: ServerCertificate;
  readonly #handle: Handler;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  readonly #port: number;

  /** Listens on a free port unless `port` names one: on one that no listener is handed while this one is stopped. */
  constructor(certificate: ServerCertificate, handle: Handler, port = freePort()) {
    this.certificate = certificate;
    this.#handle = handle;
    this.#port = port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const server = createServer(this.certificate, (request, response) => {
      this.#keep(request.socket);
      request.on('error', () => {});
      response.on('error', () => {});
      this.#handle(request, response).catch((error) => {
        console.error('a test server failed:', error);
        request.socket.destroy();
      });
    });
    const listening = Promise.withResolvers<void>();
    server.once('error', listening.reject);
    server.listen(this.#port, '127.0.0.1', listening.resolve);
    await listening.promise;
    this.#server = server;
  }

  /** Breaks every connection. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  /** Stops listening and breaks every connection. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    this.drop();
    server.closeAllConnections();
    await closed;
  }

  #keep(socket: Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

/** The whole body of a request. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A signal that aborts when the caller disconnects. */
export function leavingOf(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => left.abort());
  return left.signal;
}
