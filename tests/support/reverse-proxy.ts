import { request } from 'node:https';
import { join } from 'node:path';
import { TEST_CERTIFICATE, TEST_KEY } from './outside-service.ts';

/** An answer as it came over the wire. */
export interface ProxiedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A reverse proxy in a process of its own, at `https://shop.example:<port>`. */
export interface ReverseProxy {
  /** Sends a request as a payer at that address does. */
  call(
    method: string,
    path: string,
    options?: { readonly headers?: Readonly<Record<string, string>>; readonly client?: string },
  ): Promise<ProxiedAnswer>;
  stop(): Promise<void>;
}

/** Starts `reverse-proxy-process.ts` before a sidecar on `targetPort`; resolves once it listens. */
export async function startReverseProxy(port: number, targetPort: number): Promise<ReverseProxy> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'reverse-proxy-process.ts')], {
    env: {
      PATH: process.env.PATH ?? '',
      PROXY_PORT: `${port}`,
      TARGET_PORT: `${targetPort}`,
      CERT: TEST_CERTIFICATE,
      KEY: TEST_KEY,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  for await (const chunk of child.stdout) {
    if (new TextDecoder().decode(chunk).includes('listening')) break;
  }
  return {
    call: (method, path, { headers = {}, client } = {}) =>
      new Promise((resolve, reject) => {
        const asked = request(
          {
            host: '127.0.0.1',
            servername: 'shop.example',
            port,
            method,
            path,
            ca: TEST_CERTIFICATE,
            headers: {
              host: `shop.example:${port}`,
              ...(client === undefined ? {} : { 'x-test-client': client }),
              ...headers,
            },
          },
          async (answer) => {
            let text = '';
            for await (const chunk of answer) text += chunk;
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
          },
        );
        asked.on('error', reject);
        asked.end();
      }),
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
