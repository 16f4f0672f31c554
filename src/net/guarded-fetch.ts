import { lookup as systemLookup } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { ApiError, refused } from '../model/errors.ts';
import { addressKind } from './address-policy.ts';

/** What an outbound request may reach (decisions section 8). */
export interface GuardOptions {
  /** Private and loopback addresses too. */
  readonly allowPrivateNetwork: boolean;
  /** Loopback over http: the sandbox's own services. */
  readonly allowLoopback: boolean;
  /** Every address of a name; passed in for tests. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly timeoutMs?: number;
}

/** Gets JSON from a URL that an outsider named. */
export type FetchJson = (
  url: string,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<unknown>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 128 * 1024;
const MAX_REDIRECTS = 3;

/**
 * A fetch for URLs that payment strings name: https only (http for onion and, where allowed, loopback); every
 * address of the name must be allowed, and one that was checked is the one connected to; at most 3 redirects, each
 * checked the same way; 10 seconds in all; 128 KiB. Sends no cookies and no credentials. Throws `refused` for what
 * may not be reached, `unreachable`, `timeout` and `unreadable`.
 */
export function createGuardedFetch(options: GuardOptions): FetchJson {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  return async (url, { signal } = {}) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const ended = signal ? AbortSignal.any([signal, deadline]) : deadline;
    try {
      return parseJson(await getFollowing(url, options, ended));
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (deadline.aborted) {
        throw new ApiError(
          'timeout',
          `${hostOf(url)} did not answer within ${timeoutMs / 1000} seconds.`,
        );
      }
      if (signal?.aborted) throw signal.reason;
      throw new ApiError(
        'unreachable',
        `${hostOf(url)} cannot be reached: check the address or try later.`,
        {
          cause: error,
        },
      );
    }
  };
}

async function getFollowing(
  start: string,
  options: GuardOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  let url = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const target = checkUrl(url, options);
    const address = await allowedAddress(target, options, signal);
    const response = await get(target, address, signal);
    const { statusCode = 0, headers } = response;
    if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
      response.destroy();
      url = new URL(headers.location, target).href;
      continue;
    }
    return readBody(response, target);
  }
  throw refused(`${hostOf(start)} redirects too often.`);
}

function checkUrl(text: string, options: GuardOptions): URL {
  const url = URL.parse(text);
  if (!url) throw refused('The service answered with an address that is no URL.');
  if (url.username !== '' || url.password !== '') {
    throw refused('Addresses that hold a user name or password are not asked.');
  }
  if (url.hostname.endsWith('.onion')) {
    throw refused('Onion services cannot be reached: this sidecar has no Tor connection.');
  }
  const local = options.allowLoopback || options.allowPrivateNetwork;
  if (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && local && isLocalName(url.hostname))
  ) {
    return url;
  }
  throw refused(
    `${url.host} is not asked over ${url.protocol.replace(':', '')}: only https is safe.`,
  );
}

function isLocalName(hostname: string): boolean {
  return hostname === 'localhost' || addressKind(bare(hostname)) === 'loopback';
}

/** An address of the host that may be connected to; all of them must be allowed. */
async function allowedAddress(
  url: URL,
  options: GuardOptions,
  signal: AbortSignal,
): Promise<string> {
  const host = bare(url.hostname);
  const resolve = options.resolve ?? resolveAll;
  const addresses = isIP(host) ? [host] : await abortable(resolve(host), signal);
  const [first] = addresses;
  if (first === undefined) {
    throw new ApiError('unreachable', `${url.host} has no address: check the name.`);
  }
  for (const address of addresses) {
    const kind = addressKind(address);
    const allowed =
      kind === 'public' ||
      options.allowPrivateNetwork ||
      (kind === 'loopback' && options.allowLoopback && isLocalName(url.hostname));
    if (!allowed) {
      throw refused(
        `${url.host} is not on the public internet: start the sidecar with --allow-private-network if you trust it.`,
      );
    }
  }
  return first;
}

async function resolveAll(host: string): Promise<readonly string[]> {
  return (await systemLookup(host, { all: true })).map(({ address }) => address);
}

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** Connects to the checked address; the name is still what the certificate must fit. */
function get(url: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const family = isIP(address);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        signal,
        agent: false,
        headers: { accept: 'application/json', 'accept-encoding': 'identity' },
        lookup: (_host, lookupOptions, callback) => {
          if (lookupOptions.all) callback(null, [{ address, family }]);
          else callback(null, address, family);
        },
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end();
  });
}

async function readBody(response: IncomingMessage, url: URL): Promise<Buffer> {
  const encoding = response.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    response.destroy();
    throw unreadable(url, 'it answered compressed though asked not to');
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) {
      response.destroy();
      throw unreadable(url, 'its answer is larger than 128 KiB');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ApiError('unreadable', 'The service answered something that is not JSON.');
  }
}

function unreadable(url: URL, rule: string): ApiError {
  return new ApiError('unreadable', `${url.host} cannot be used: ${rule}.`);
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'The service';
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
