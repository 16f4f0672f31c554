import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { foreignText } from './foreign-text.ts';
import { serviceFailed } from './service-error.ts';

interface BoundedRequest {
  readonly url: URL;
  readonly method?: string;
  /** Headers besides those that are always sent. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly accept: string;
  readonly signal: AbortSignal;
  /** The IP address to connect to; undefined: the host is looked up. The certificate must match the host either way. */
  readonly address?: string | undefined;
  /** Certificate authorities to trust in place of the system's, PEM. */
  readonly ca?: string | undefined;
  /** Keeps connections for further requests; undefined: the request has one of its own. */
  readonly agent?: Agent | undefined;
}

/**
 * Sends a GET without cookies, credentials, compression or proxy. Resolves when the head of the answer is there. If a
 * kept connection fails, the request is sent again on one of its own.
 */
export async function get(request: Omit<BoundedRequest, 'method'>): Promise<IncomingMessage> {
  const sent = sentOf(request);
  try {
    return await answerTo(sent);
  } catch (error) {
    // A server may close a kept connection at any time, which says nothing of the request (RFC 9112 section 9.3.1).
    if (!sent.reusedSocket) throw error;
    return answerTo(sentOf({ ...request, agent: undefined }));
  }
}

/** Sends a request once, on a connection of its own, and otherwise like {@link get}. */
export function send(request: Omit<BoundedRequest, 'agent'>): Promise<IncomingMessage> {
  return answerTo(sentOf(request));
}

function sentOf({ url, method = 'GET', body, ...given }: BoundedRequest): ClientRequest {
  const { accept, signal, address, ca, agent, headers } = given;
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return request(url, {
    method,
    signal,
    agent: agent ?? false,
    headers: {
      accept,
      ...headers,
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-length': String(body.length) }),
    },
    // Without this, the variable NODE_TLS_REJECT_UNAUTHORIZED could switch the check off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(address === undefined ? {} : { lookup: lookupOf(address) }),
  }).end(body);
}

function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on('response', resolve);
    sent.on('error', reject);
    // After a switch of protocols neither an answer nor the end of the time would be told.
    sent.on('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('The server has switched to another protocol.'));
    });
  });
}

type Lookup = NonNullable<Parameters<typeof httpRequest>[1]['lookup']>;

function lookupOf(address: string): Lookup {
  const family = isIP(address);
  return (_host, options, callback) => {
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}

/** Reads an answer of at most `maxBytes` as JSON. Throws error 113 (`unusable_answer`) for any other answer. */
export async function readJson(
  response: IncomingMessage,
  url: URL,
  maxBytes: number,
): Promise<unknown> {
  const body = await readBytes(response, url, maxBytes);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw unusable(url, 'its answer is not JSON', cause);
  }
}

/** Reads an answer of at most `maxBytes`. Throws error 113 (`unusable_answer`) for a longer or compressed one. */
export async function readBytes(
  response: IncomingMessage,
  url: URL,
  maxBytes: number,
): Promise<Buffer> {
  const encoding = response.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    response.destroy();
    throw unusable(url, 'its answer is compressed, which was not asked for');
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      response.destroy();
      throw unusable(url, `its answer is larger than ${maxBytes / 1024} KiB`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unusable(url: URL, rule: string, cause?: unknown) {
  return serviceFailed('unusable_answer', `${shownHost(url)} cannot be used: ${rule}.`, cause);
}

/** Returns the host and port of a URL from outside, in a form that is safe in messages. */
export function shownHost(url: URL): string {
  return foreignText(url.host, { maxCharacters: 100 }) || 'The service';
}
