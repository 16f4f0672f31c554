import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { freePort } from '../support/ports.ts';

/** A request that came to a sidecar; `path` is what it takes the target for. */
export interface Come {
  readonly path: string;
  readonly host: string | undefined;
  readonly request: IncomingMessage;
}

/** Stands for a sidecar: keeps what comes, but questions who leads, and does with it what a test says. */
export async function fakeSidecar(
  status: number,
  behave: (come: Come, response: ServerResponse) => void = (_, response) => response.end('{}'),
) {
  const come: Come[] = [];
  const asked: Come[] = [];
  const server = createServer({ maxHeaderSize: 128 * 1024 }, (request, response) => {
    // As the runtime and the router of the sidecar read it.
    const { pathname } = new URL(`http://sidecar${request.url}`);
    const one = { path: decodeURI(pathname), host: request.headers.host, request };
    if (one.path !== '/v2/leader') {
      come.push(one);
      return behave(one, response);
    }
    asked.push(one);
    if (status === SILENT) return;
    response.writeHead(status).end('{}');
  });
  const port = freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { port, come, asked, stop };
}

/** It takes connections, and says nothing, as one that is stopped. */
export const SILENT = 0;

/** Sends a request as it is written, from an address of this machine. Returns the text that comes back first. */
export function raw(port: number, text: string, localAddress = '127.0.0.1'): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(''));
    socket.on('data', (bytes) => resolve(bytes.toString()));
    socket.write(text);
  });
}

/** The status of the answer to a request whose target nothing has changed on its way. */
export async function statusOf(
  port: number,
  target: string,
  host = '127.0.0.1:8080',
): Promise<number> {
  const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  return Number(/^HTTP\/1.1 (\d+)/.exec(await raw(port, head))?.[1]);
}

/** Targets that a sidecar takes for /metrics, and such as look like it. */
export const FIGURES = [
  ...['/metrics', '//metrics', '/metrics?a', '/%6detrics', '/%2fmetrics', '/./metrics'],
  ...['/v2/../metrics', '/v2/%2e%2e/metrics', '/v2%2f..%2fmetrics', '/metrics#a'],
  ...['/.\\metrics', '/%2e\\metrics', '/v2\\..\\metrics', '/v2/..\\metrics', '/.\\.\\metrics'],
  ...['/metrics\\..\\metrics', '/\\..\\metrics', '/v2\\%2e%2e\\metrics'],
];
