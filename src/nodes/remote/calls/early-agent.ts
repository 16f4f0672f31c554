import { Agent, type RequestOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { OWN_CONNECTION } from './https-stream.ts';
import type { RemoteLocation } from './location.ts';
import { type Done, handOver, secured, type Target, targetOf } from './secured.ts';

/**
 * A connection that no request takes is closed after this time. One that rested for long may be dead without a sign,
 * and then it would not be known whether the request was read.
 */
const KEPT_MS = 2000;
/** The most connections that wait for a request; more are not opened ahead. */
const MOST_KEPT = 8;

/** A connection that was opened ahead and waits for its request. */
interface Early {
  readonly connection: Promise<TLSSocket>;
  readonly expiry: ReturnType<typeof setTimeout>;
}

/**
 * Gives each request a connection of its own, which may be opened a moment before the request is made. So a payment
 * need not wait for the handshake, which is made while the wallet still prepares it.
 */
export class EarlyAgent extends Agent {
  readonly #target: Target;
  readonly #cert: string | null;
  readonly #kept = new Set<Early>();

  constructor({ url, cert }: RemoteLocation) {
    super(OWN_CONNECTION);
    const { hostname, port } = new URL(url);
    this.#target = targetOf(hostname, Number(port || 443));
    this.#cert = cert;
  }

  /** Begins to open a connection for the next request. It carries nothing before that. */
  prepare(): void {
    if (this.#kept.size >= MOST_KEPT) return;
    const connection = this.#connect();
    const early: Early = {
      connection,
      expiry: setTimeout(() => {
        this.#forget(early);
        connection.then((socket) => socket.destroy()).catch(() => undefined);
      }, KEPT_MS),
    };
    this.#kept.add(early);
    const forget = () => this.#forget(early);
    connection
      // A dead connection must not be taken; an error without a listener would end the process.
      .then((socket) => socket.once('close', forget).once('end', forget).on('error', forget))
      .catch(forget);
  }

  /** Makes one connection for a request; `node:https` calls it. */
  override createConnection(_options: RequestOptions, done?: Done): undefined {
    return handOver(this.#taken(), done);
  }

  /** The connection that was opened first; a new one where there is none, or it could not be opened. */
  #taken(): Promise<TLSSocket> {
    const [early] = this.#kept;
    if (early === undefined) return this.#connect();
    this.#forget(early);
    return early.connection.catch(() => this.#connect());
  }

  #forget(early: Early): void {
    clearTimeout(early.expiry);
    this.#kept.delete(early);
  }

  #connect(): Promise<TLSSocket> {
    return secured(this.#target, this.#cert);
  }
}
