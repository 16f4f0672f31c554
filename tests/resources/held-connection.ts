import { connect, type Socket } from 'node:net';

/** An answer as it came over the connection. */
export interface HeldAnswer {
  readonly status: number;
  readonly body: string;
}

/** A connection that stays open between requests. */
export interface HeldConnection {
  /** Sends a request and resolves with its answer. Rejects when the connection closes first. */
  ask(method: string, path: string, body?: unknown): Promise<HeldAnswer>;
  close(): void;
}

/** Opens a connection. Answers on it must have a Content-Length. */
export async function holdConnection(port: number): Promise<HeldConnection> {
  const socket = await connected(port);
  let received = '';
  let wake = Promise.withResolvers<void>();
  let ended = false;
  const heard = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    received += chunk;
    heard();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    ended = true;
    heard();
  });
  return {
    async ask(method, path, body) {
      const text = body === undefined ? '' : JSON.stringify(body);
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      );
      while (true) {
        const answer = takeAnswer(received);
        if (answer !== null) {
          received = received.slice(answer.length);
          return answer;
        }
        if (ended) throw new Error(`The connection ended after: ${received}`);
        await wake.promise;
      }
    },
    close: () => socket.destroy(),
  };
}

function takeAnswer(received: string): (HeldAnswer & { readonly length: number }) | null {
  const headEnd = received.indexOf('\r\n\r\n') + 4;
  if (headEnd < 4) return null;
  const head = received.slice(0, headEnd);
  const length = headEnd + Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  if (received.length < length) return null;
  return { status: Number(head.slice(9, 12)), body: received.slice(headEnd, length), length };
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).once('error', reject);
  });
}
