import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ProxyAddress } from '../../../model/proxy-address.ts';
import { RemoteFailure } from './failure.ts';
import { type Done, handOver, secured, type Target, targetOf } from './secured.ts';

/** A connection to an onion service may take this long. */
const CONNECT_TIMEOUT_MS = 60_000;

/** Connects to the target through a SOCKS5 proxy. Throws `proxy`. */
export async function socketThrough(proxy: ProxyAddress, target: Target): Promise<Socket> {
  // Most sidecars use no proxy, and the package takes long to load.
  const { SocksClient } = await import('socks');
  const { socket } = await SocksClient.createConnection({
    proxy: { ...proxy, type: 5 },
    command: 'connect',
    destination: target,
    timeout: CONNECT_TIMEOUT_MS,
  }).catch((error: unknown) => {
    throw new RemoteFailure('proxy', true, error);
  });
  return socket;
}

/**
 * Connects through a SOCKS5 proxy, which also looks up the host's name. TLS reaches from here to the node: the proxy
 * reads nothing, and the node's certificate is checked as it is without a proxy.
 */
export class SocksAgent extends Agent {
  readonly #proxy: ProxyAddress;
  readonly #cert: string | null;

  constructor(proxy: ProxyAddress, cert: string | null, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
    this.#cert = cert;
  }

  /** Makes one connection for a request; `node:https` calls it. */
  override createConnection({ host, port }: RequestOptions, done?: Done): undefined {
    return handOver(this.#connect(targetOf(host ?? '', Number(port))), done);
  }

  async #connect(target: Target): Promise<TLSSocket> {
    return secured(target, this.#cert, await socketThrough(this.#proxy, target));
  }
}
