import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';

/** A host, an address of IPv6 without its brackets, and a port. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** The target of a host as URLs and requests name it, where addresses of IPv6 stand in brackets. */
export function targetOf(host: string, port: number): Target {
  return { host: host.replace(/^\[|\]$/g, ''), port };
}

/**
 * Makes TLS to the target, over the socket where one is given. The certificate is checked for the host; `cert` is the
 * pinned one, null for a public one. Resolves once it is accepted, and rejects with the runtime's error.
 */
export function secured(
  { host, port }: Target,
  cert: string | null,
  socket?: Socket,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const made = connect({
      host,
      ...(socket ? { socket } : { port }),
      // The server's name is sent where it is one.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(cert === null ? {} : { ca: cert }),
    });
    made.once('error', reject);
    made.once('secureConnect', () => {
      made.off('error', reject);
      resolve(made);
    });
  });
}

/** The callback of an agent's `createConnection`; the runtime does not read the second argument beside an error. */
export type Done = (error: Error | null, connection: Duplex) => void;

/** Gives a connection, or the error for which there is none, to the callback of `createConnection`. */
export function handOver(connection: Promise<TLSSocket>, done?: Done): undefined {
  connection.then(
    (made) => done?.(null, made),
    (error: unknown) => (done as (error: unknown) => void)?.(error),
  );
}
