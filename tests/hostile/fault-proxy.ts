import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type ServerCertificate, selfSignedCertificate } from './certificates.ts';
import { bodyOf, HttpsServer } from './https-server.ts';

/** A fault of a request between the sidecar and its node. */
export type Fault =
  /** The connection ends, and the node does not get the request. */
  | { readonly kind: 'cut-before' }
  /** The node has answered, but the connection ends before any byte of the answer. */
  | { readonly kind: 'cut-after' }
  /** The node has answered, but the caller gets the page of a proxy. */
  | { readonly kind: 'page'; readonly status: 502 | 504 }
  /** The node has answered, but the caller gets a gRPC error: code 14, "transport is closing". */
  | { readonly kind: 'unavailable' }
  /** The answer arrives late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The end of the answer's JSON, or of the stream's first item, is missing. */
  | { readonly kind: 'garble' }
  /** The node gets the request twice; the caller gets the second answer. */
  | { readonly kind: 'twice' }
  /** The stream ends after that many items; 0 ends it once the first has arrived, without passing it on. */
  | { readonly kind: 'cut-stream'; readonly afterItems: number };

/** The requests that get a fault. */
export interface FaultRule {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Matches the path with its query. */
  readonly path: RegExp;
  /** Only the request with this number among the matching ones, counted from 1; every one when left out. */
  readonly nth?: number;
  readonly fault: Fault;
}

/** A fault that has happened. */
export interface Fired {
  readonly kind: Fault['kind'];
  readonly method: string;
  readonly path: string;
}

/** A request that arrived at the proxy. */
interface Seen {
  /** The path with its query. */
  readonly path: string;
  /** The macaroon or the rune; null without one. */
  readonly token: string | null;
}

/** A proxy in front of an LND or a clnrest, with a certificate of its own. */
export interface FaultProxy {
  readonly url: string;
  /** The proxy's certificate, PEM; callers see no other. */
  readonly cert: string;
  readonly fired: readonly Fired[];
  /** Every request, in the order in which they arrived. */
  readonly seen: readonly Seen[];
  /** Requests that the node answered, or whose stream it began, as `METHOD path`. */
  readonly reached: readonly string[];
  /** Replaces the rules; their counts begin at zero. */
  rules(...rules: readonly FaultRule[]): void;
  /** Ends every connection. */
  drop(): void;
  stop(): Promise<void>;
}

/** Where the node is, and the certificate it shows (PEM). */
export interface ProxyTarget {
  readonly url: string;
  readonly cert: string;
}

/** Starts a proxy to a node. Without rules it passes everything on. */
export async function startFaultProxy(
  target: ProxyTarget,
  certificate: ServerCertificate = selfSignedCertificate({ name: 'fault proxy' }),
): Promise<FaultProxy> {
  let rules: readonly FaultRule[] = [];
  const counts = new Map<FaultRule, number>();
  const fired: Fired[] = [];
  const seen: Seen[] = [];
  const reached: string[] = [];

  function faultOf(method: string, path: string): Fault | null {
    const hits = rules.filter((rule) => rule.method === method && rule.path.test(path));
    for (const rule of hits) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    const hit = hits.find((rule) => rule.nth === undefined || rule.nth === counts.get(rule));
    if (!hit) return null;
    fired.push({ kind: hit.fault.kind, method, path });
    return hit.fault;
  }

  const server = new HttpsServer(certificate, async (request, response) => {
    const { method = '', url: path = '' } = request;
    const body = await bodyOf(request);
    const [token = null] = Object.values(tokenOf(request));
    seen.push({ path, token });
    const fault = faultOf(method, path);
    if (fault?.kind === 'cut-before') return void request.socket.destroy();
    const left = new AbortController();
    response.once('close', () => left.abort());
    const forward = () => forwarded(target, request, body, left.signal);
    try {
      if (fault?.kind === 'twice') {
        // The answer is not read to its end, because it may be a stream.
        (await forward()).destroy();
      }
      const answer = await forward();
      reached.push(`${method} ${path}`);
      await pass(answer, response, fault);
    } catch {
      // The node cannot be reached or broke the connection, so the caller's connection breaks too.
      request.socket.destroy();
    }
  });
  await server.start();
  return {
    url: server.url,
    cert: certificate.cert,
    fired,
    seen,
    reached,
    rules: (...next) => {
      rules = next;
      counts.clear();
    },
    drop: () => server.drop(),
    stop: () => server.stop(),
  };
}

/** Sends the request to the node and resolves with the head of its answer. */
function forwarded(
  target: ProxyTarget,
  request: IncomingMessage,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { method, url } = request;
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(`${target.url}${url}`, {
      ...(method === undefined ? {} : { method }),
      ca: target.cert,
      agent: false,
      signal,
      headers: {
        'content-length': Buffer.byteLength(body),
        'content-type': 'application/json',
        ...tokenOf(request),
      },
    });
    sent.once('response', resolve);
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The header by which a node of either kind knows what the request may do. */
function tokenOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    ['grpc-metadata-macaroon', 'rune'].flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}

/** Passes an answer on as it arrives, line by line, with the fault applied. */
async function pass(
  answer: IncomingMessage,
  response: ServerResponse,
  fault: Fault | null,
): Promise<void> {
  switch (fault?.kind) {
    case 'cut-after':
      return void response.socket?.destroy();
    case 'page':
      return reply(response, fault.status, 'text/html', '<html><body>Bad Gateway</body></html>');
    case 'unavailable':
      return reply(response, 503, 'application/json', UNAVAILABLE);
    case 'delay':
      await Bun.sleep(fault.ms);
  }
  let items = 0;
  const cutAfter = fault?.kind === 'cut-stream' ? fault.afterItems : Number.POSITIVE_INFINITY;
  for await (const line of linesOf(answer)) {
    if (items >= cutAfter) return void response.socket?.destroy();
    if (!response.headersSent) {
      const type = answer.headers['content-type'] ?? 'application/json';
      response.writeHead(answer.statusCode ?? 200, { 'content-type': type });
    }
    const garbled = fault?.kind === 'garble' && items === 0;
    response.write(garbled ? `${line.slice(0, line.length / 2)}\n` : line);
    items += 1;
    if (items >= cutAfter) {
      // The item must be sent before the connection ends.
      await Bun.sleep(20);
      return void response.socket?.destroy();
    }
  }
  if (!response.headersSent) response.writeHead(answer.statusCode ?? 200);
  response.end();
}

const UNAVAILABLE = JSON.stringify({ code: 14, message: 'transport is closing', details: [] });

function reply(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type });
  response.end(body);
}

/** The lines of an answer with their line ends; the last one may have none. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer) {
    rest += decoder.decode(chunk as Buffer, { stream: true });
    for (let at = rest.indexOf('\n'); at >= 0; at = rest.indexOf('\n')) {
      yield rest.slice(0, at + 1);
      rest = rest.slice(at + 1);
    }
  }
  if (rest !== '') yield rest;
}
