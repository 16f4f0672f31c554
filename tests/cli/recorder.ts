import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

/** A request as it arrived. */
export interface Recorded {
  readonly url: string;
  readonly authorization: string | null;
}

/** Servers that record what they receive. They play this machine and every other host. */
export interface Recorder {
  readonly requests: Recorded[];
  /** The loopback address without TLS (`loopback`) and with TLS. */
  readonly loopback: string;
  readonly loopbackTls: string;
  /** An environment in which requests to every other host, over http and https, also reach the recorder. */
  readonly env: Readonly<Record<string, string>>;
  answer(respond: () => Response): void;
  close(): Promise<void>;
}

/** Starts the servers. Other hosts are reached through proxies, so that no name has to be resolved. */
export async function startRecorder(): Promise<Recorder> {
  const requests: Recorded[] = [];
  let respond = () => Response.json({});
  const fetch = (request: Request) => {
    requests.push({ url: request.url, authorization: request.headers.get('authorization') });
    return respond();
  };
  const listen = { hostname: '127.0.0.1', port: 0, fetch };
  const plain = Bun.serve(listen);
  const secure = Bun.serve({ ...listen, tls: certificate() });
  const tunnel = await startTunnel(secure.port ?? 0);
  const proxies = {
    http_proxy: `http://127.0.0.1:${plain.port}`,
    https_proxy: `http://127.0.0.1:${tunnel.port}`,
  };
  return {
    requests,
    loopback: `http://127.0.0.1:${plain.port}`,
    loopbackTls: `https://127.0.0.1:${secure.port}`,
    // The certificate is made for the test, which checks who receives what, not certificates.
    env: { ...proxies, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    answer(next) {
      respond = next;
    },
    async close() {
      tunnel.close();
      await plain.stop(true);
      await secure.stop(true);
    },
  };
}

/** A proxy that connects every CONNECT to one port of this machine. */
async function startTunnel(target: number): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => client.destroy());
    client.once('data', () => {
      const inner = connect(target, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        client.pipe(inner).pipe(client);
      });
      inner.on('error', () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function certificate(): { key: string; cert: string } {
  const folder = temporaryFolder('tls');
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  try {
    const args = 'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout';
    const { success, stderr } = Bun.spawnSync(['openssl', ...args.split(' '), key, '-out', cert]);
    if (!success) throw new Error(stderr.toString());

    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    removeFolder(folder);
  }
}
