import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { hex } from '@scure/base';
import { isLoopbackHost } from '../lib/network/loopback-host.ts';
import { type GuardOptions, requireReachable } from '../net/guarded-fetch.ts';

/** Opens a connection through the proxy that the configuration names, which looks up the host. */
export type Through = (target: { host: string; port: number }) => Promise<Socket>;

interface ReachOptions {
  /** What relays may be reached that the configuration does not name. */
  readonly guard: GuardOptions;
  readonly trusted: readonly string[];
  /** Null where relays are reached directly. */
  readonly through: Through | null;
}

const CONNECT_WITHIN_MS = 15_000;

/** How relays are reached. */
export type Reach = ReturnType<typeof openReach>;

/**
 * Returns what says how a relay is reached. With a proxy every relay is, but those of this machine. The guard cannot
 * see which addresses a proxy reaches, so only relays of the configuration are reached by it (docs/decisions.md 203).
 */
export function openReach({ guard, trusted, through }: ReachOptions) {
  let bridge: ReturnType<typeof openBridge> | null = null;
  const isByProxy = (url: string) => through !== null && !isLoopbackHost(new URL(url).host);
  const isRefused = (url: string) => isByProxy(url) && !trusted.includes(url);
  return {
    /** Whether no pairing may name that relay. */
    isRefused,
    /** Returns the options of its websocket. Throws where it must not be reached. */
    async optionsFor(url: string): Promise<{ readonly proxy?: string }> {
      if (isRefused(url)) throw new Error('A relay by --node-proxy must be one of --nwc-relay.');
      if (through !== null && isByProxy(url)) {
        bridge ??= openBridge(through);
        return { proxy: (await bridge).url };
      }
      const asWeb = new URL(url.replace(/^ws/, 'http'));
      if (trusted.includes(url)) return {};
      await requireReachable(asWeb, guard, AbortSignal.timeout(CONNECT_WITHIN_MS));
      return {};
    },
    close: () => void bridge?.then(({ close }) => close()),
  };
}

/**
 * Opens a proxy on this machine that passes connections on: the runtime's websockets speak to an HTTP proxy, and to no
 * SOCKS5 proxy. Its password is in the URL alone, so that no other program of this machine can use it.
 */
async function openBridge(through: Through) {
  const password = hex.encode(randomBytes(16));
  const known = `Basic ${Buffer.from(`relay:${password}`).toString('base64')}`;
  const server = createServer((_, answer) => answer.writeHead(405).end());
  server.on('connect', async ({ url = '', headers }, client: Socket) => {
    client.on('error', () => client.destroy());
    if (headers['proxy-authorization'] !== known) return client.end('HTTP/1.1 407 No\r\n\r\n');
    const [, host = '', port] = /^(.+):(\d+)$/.exec(url) ?? [];
    const target = { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
    const socket = await through(target).catch(() => null);
    if (socket === null) return client.end('HTTP/1.1 502 No\r\n\r\n');
    socket.on('error', () => socket.destroy());
    socket.once('close', () => client.destroy());
    client.once('close', () => socket.destroy());
    if (client.destroyed) return socket.destroy();
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    return client.pipe(socket).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://relay:${password}@127.0.0.1:${port}`, close: () => server.close() };
}
