import { connect } from 'node:net';

/** The answer that a server sent before it closed the connection. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** Sends the bytes unchanged and resolves with the answer. The body must have a length or end with the connection. */
export function rawExchange(port: number, bytes: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    const finish = () => {
      socket.destroy();
      const headEnd = received.indexOf('\r\n\r\n');
      const headers = received.slice(0, headEnd);
      resolve({ status: Number(headers.slice(9, 12)), headers, body: received.slice(headEnd + 4) });
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      received += chunk;
      const headEnd = received.indexOf('\r\n\r\n');
      const length = /^content-length: (\d+)/im.exec(received.slice(0, headEnd))?.[1];
      if (length !== undefined && received.length - headEnd - 4 >= Number(length)) finish();
    });
    socket.on('end', finish);
    // A server may close the connection before it has read everything. Its answer counts all the same.
    socket.on('error', (error) => (received === '' ? reject(error) : finish()));
  });
}
