import { connect, isIP, type Socket } from 'node:net';
import { connect as secure } from 'node:tls';
import type { ProxyAddress } from '../../../model/proxy-address.ts';
import type { RemoteLocation } from './location.ts';
import { socketThrough } from './socks-agent.ts';

/** Time limit of one handshake, and of the connection for it where there is no proxy. */
const HANDSHAKE_WITHIN_MS = 5000;

/** Whether a server speaks only HTTP/2, as gRPC's port does (RFC 7301); false where that is not found out. */
export async function isHttp2Only(
  location: RemoteLocation,
  proxy: ProxyAddress | null,
): Promise<boolean> {
  if ((await chosen(location, proxy, 'h2')) !== 'h2') return false;
  return (await chosen(location, proxy, 'http/1.1')) !== 'http/1.1';
}

/** The protocol that the server chooses when only this one is offered; null when it chooses none. */
async function chosen(
  { url, cert }: RemoteLocation,
  proxy: ProxyAddress | null,
  offered: string,
): Promise<string | null> {
  const { hostname, port } = new URL(url);
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
  const socket = proxy ? await socketThrough(proxy, target).catch(() => null) : connect(target);
  return socket && handshake(socket, target.host, cert, offered);
}

function handshake(
  socket: Socket,
  host: string,
  cert: string | null,
  offered: string,
): Promise<string | null> {
  return new Promise((resolve) => {
    const secured = secure({
      socket,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(cert === null ? {} : { ca: cert }),
      ALPNProtocols: [offered],
    });
    const end = (protocol: string | null) => {
      clearTimeout(timer);
      resolve(protocol);
      secured.destroy();
      socket.destroy();
    };
    const timer = setTimeout(() => end(null), HANDSHAKE_WITHIN_MS);
    socket.once('error', () => end(null));
    secured.once('secureConnect', () => end(secured.alpnProtocol || null));
    // An error may follow the end.
    secured.on('error', () => end(null));
    secured.once('close', () => end(null));
  });
}
