import { connect, type Socket } from 'node:net';
import { until } from '../tests/support/until.ts';

/** How many streams are opened at a time. */
const AT_ONCE = 100;

/** Opens that many streams of `GET /v2/node/events`, and resolves once all are open, to a function that closes them. */
export async function openReaders(port: number, count: number): Promise<() => void> {
  const sockets: Socket[] = [];
  let open = 0;
  while (sockets.length < count) {
    for (let at = 0; at < AT_ONCE && sockets.length < count; at++) {
      const socket = connect(port, '127.0.0.1');
      socket.once('data', () => open++);
      socket.on('data', () => undefined).on('error', () => undefined);
      socket.write(`GET /v2/node/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
      sockets.push(socket);
    }
    await until(() => open === sockets.length, 'the streams are open');
  }
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
