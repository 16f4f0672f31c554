import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const TIMEOUT_MS = 120_000;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

describe('no caller takes what all callers share', () => {
  test(
    'of those without credentials, 64 may be sending a body at a time; the others get error 8 at once',
    async () => {
      const { port, baseUrl } = await start();
      const sockets = Array.from({ length: 80 }, () => trickle(port));
      const refused = () => sockets.filter(({ received }) => received().includes(' 503 ')).length;
      await until(async () => refused() === 16);
      for (const { received } of sockets) {
        if (received() !== '') expect(received()).toContain('"code":8');
      }
      expect((await fetch(`${baseUrl}/v2/health`)).status).toBe(200);
      for (const { socket } of sockets) socket.destroy();
      // The sidecar notices that they are gone when its machine has time for it.
      await until(async () => {
        const proof = await fetch(`${baseUrl}/v2/node/verify_payer_proof`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"proof":"x"}',
        });
        return proof.status === 200;
      }, 'their places are free');
    },
    TIMEOUT_MS,
  );

  test(
    "a client's waits and streams are an eighth of the connections at most; the owner revokes it all the same",
    async () => {
      const { sidecar, baseUrl } = await start({ openFiles: 512 });
      const made = (await sidecar.call('POST', '/v2/node/create_client', {
        body: { scopes: ['read_payments'] },
      })) as { client_pk: string; client_credentials: string };
      const gone = new AbortController();
      cleanups.push(() => gone.abort());
      const open = () =>
        fetch(`${baseUrl}/v2/node/events`, {
          signal: gone.signal,
          headers: { authorization: `Bearer ${made.client_credentials}` },
        });
      const streams = await Promise.all(Array.from({ length: 64 }, open));
      expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
      const beyond = await open();
      expect(beyond.status).toBe(503);
      expect(await beyond.json()).toMatchObject({ code: 8 });
      // A stream that ends gives its place back.
      await streams[0]?.body?.cancel();
      await until(async () => (await open()).status === 200);
      await sidecar.call('POST', '/v2/node/revoke_client', { body: { client_pk: made.client_pk } });
      expect((await open()).status).toBe(401);
    },
    TIMEOUT_MS,
  );
});

async function start(options: { openFiles?: number } = {}): Promise<{
  sidecar: DevSidecar;
  port: number;
  baseUrl: string;
}> {
  const folder = temporaryFolder('share');
  cleanups.push(() => removeFolder(folder));
  const port = freePort();
  const sidecar = await startDevSidecar({ dataDir: join(folder, 'data'), port, ...options });
  cleanups.push(() => sidecar.kill());
  return { sidecar, port, baseUrl: sidecar.baseUrl };
}

/** Begins to send a body and never finishes it. */
function trickle(port: number): { socket: Socket; received: () => string } {
  const socket = connect(port, '127.0.0.1');
  cleanups.push(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.on('error', () => undefined);
  socket.write(
    `POST /v2/node/verify_payer_proof HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{`,
  );
  return { socket, received: () => text };
}
