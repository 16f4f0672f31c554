import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, leavingOf } from '../https-server.ts';
import { httpStatusOf, Input, type Json, LndError, type RpcMethod } from './rpc.ts';

/** A request as the fake received it, for tests to check. */
export interface Received {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** The full gRPC name, or null for a path that LND does not have. */
  readonly rpc: string | null;
  readonly macaroonHex: string | null;
  readonly body: string;
}

/** Hooks by which hostile variants change what the node does. */
export interface Hooks {
  /** Returns whether it has answered the request itself. */
  readonly intercept?: (received: Received, response: ServerResponse) => Promise<boolean> | boolean;
  /** Changes an answer, or one item of a stream. */
  readonly rewrite?: (rpc: string, answer: Json) => Json;
  /** Whether any macaroon is accepted; by default only genuine ones are. */
  readonly anyMacaroon?: boolean;
}

interface GatewayOptions {
  readonly methods: readonly RpcMethod[];
  /** Throws LND's error unless the macaroon allows the method now. */
  readonly authorize: (macaroonHex: string | null, method: RpcMethod) => void;
  readonly hooks: Hooks;
}

/**
 * Does what grpc-gateway does before LND's methods: paths, JSON, status codes and streams, as LND's REST interface has
 * them.
 */
export class Gateway {
  readonly received: Received[] = [];
  readonly #options: GatewayOptions;
  readonly #paths: readonly { readonly pattern: RegExp; readonly method: RpcMethod }[];

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#paths = options.methods.map((method) => {
      const source = method.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
      return { pattern: new RegExp(`^${source}$`), method };
    });
  }

  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method: http = '', url: path = '' } = request;
    const { pathname, searchParams } = new URL(path, 'https://fake');
    const body = await bodyOf(request);
    const found = this.#find(http, pathname);
    const given = request.headers['grpc-metadata-macaroon'];
    const macaroonHex = typeof given === 'string' ? given : null;
    const received = { method: http, path, rpc: found?.method.rpc ?? null, macaroonHex, body };
    this.received.push(received);
    if (await this.#options.hooks.intercept?.(received, response)) return;
    if (!found) return refuse(response, new LndError('Not Found', 5), false);
    const { method, fields } = found;
    try {
      const input = new Input({ ...queryOf(searchParams), ...parse(body), ...fields });
      if (!this.#options.hooks.anyMacaroon) this.#options.authorize(macaroonHex, method);
      const call = { input, signal: leavingOf(response) };
      if ('answer' in method) {
        send(response, 200, this.#rewritten(method.rpc, method.answer(call)));
      } else {
        await this.#stream(method.rpc, method.items(call), response);
      }
    } catch (error) {
      if (!(error instanceof LndError)) throw error;
      refuse(response, error, 'items' in method);
    }
  };

  #find(http: string, pathname: string) {
    for (const { pattern, method } of this.#paths) {
      const match = method.http === http ? pattern.exec(pathname) : null;
      if (!match) continue;
      const groups = Object.entries(match.groups ?? {});
      const fields = Object.fromEntries(
        groups.map(([name, value]) => [name, decodeURIComponent(value)]),
      );
      return { method, fields };
    }
    return null;
  }

  /** The head is sent with the first item, as LND does. */
  async #stream(rpc: string, items: AsyncGenerator<Json>, response: ServerResponse): Promise<void> {
    for await (const item of items) {
      if (response.destroyed) return;
      if (!response.headersSent) response.writeHead(200, JSON_HEAD);
      response.write(`${JSON.stringify({ result: this.#rewritten(rpc, item) })}\n`);
    }
    if (!response.destroyed) response.end();
  }

  #rewritten(rpc: string, answer: Json): Json {
    return this.#options.hooks.rewrite?.(rpc, answer) ?? answer;
  }
}

const JSON_HEAD = { 'content-type': 'application/json' };

function send(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, JSON_HEAD);
  response.end(JSON.stringify(body));
}

/** In a stream, an error before the first item is wrapped in a field `error`. */
function refuse(
  response: ServerResponse,
  { grpcCode, message }: LndError,
  inStream: boolean,
): void {
  const error = { code: grpcCode, message, details: [] };
  send(response, httpStatusOf(grpcCode), inStream ? { error } : error);
}

function queryOf(query: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(query);
}

function parse(body: string): Record<string, unknown> {
  if (body === '') return {};
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    throw new LndError('invalid character in request body', 3);
  }
}
