import { lookup as systemLookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { inSeconds } from '../lib/in-seconds.ts';
import { ApiError } from '../model/errors.ts';
import { addressKind } from './address-policy.ts';
import { get, readBytes, readJson, send, shownHost } from './bounded-get.ts';
import type { ResourceRequest } from './paid/index.ts';
import { type ServiceProblem, serviceFailed } from './service-error.ts';

/** The addresses that a request may reach (docs/decisions.md 74). */
export interface GuardOptions {
  /** Allows private addresses, and loopback addresses also over http. */
  readonly allowPrivateNetwork: boolean;
  /** Allows loopback addresses, also over http, for the sandbox's own services. */
  readonly allowLoopback: boolean;
  /** Returns every address of a host; the system's resolver by default. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Certificate authorities to trust in place of the system's, PEM. */
  readonly ca?: string;
  readonly timeoutMs?: number;
}

/** Gets JSON from a URL that comes from outside, such as from a payment string. */
export type FetchJson = (
  url: string,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<unknown>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 128 * 1024;
const MAX_REDIRECTS = 3;

/**
 * Creates a fetch for URLs that payment strings name (docs/decisions.md 74):
 *
 * - It uses https only, except http for loopback where `options` allows that.
 * - Every address of the host must be allowed, and it connects to one that was checked.
 * - It follows at most 3 redirects, each checked the same way.
 * - It takes at most 10 seconds in all, and reads at most 128 KiB.
 * - It sends no cookies and no credentials.
 *
 * Every failure is error 113, except that an abort of the caller's own signal throws the signal's reason.
 */
export function createGuardedFetch(options: GuardOptions): FetchJson {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  return (text, { signal } = {}) => {
    return withinTime(text, { signal, timeoutMs }, async (url, ended) => {
      const { response, url: last } = await getFollowing(url, options, ended);
      return readJson(response, last, MAX_BYTES);
    });
  };
}

/** Gets the text of an answer. */
export type FetchText = (url: string) => Promise<string>;

/** Creates a fetch like {@link createGuardedFetch} that returns the text, of an answer with the status 200 alone. */
export function createGuardedTextFetch(options: GuardOptions): FetchText {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  return (text) =>
    withinTime(text, { signal: undefined, timeoutMs }, async (url, ended) => {
      const { response, url: last } = await getFollowing(url, options, ended);
      if (response.statusCode === 200) return String(await readBytes(response, last, MAX_BYTES));
      response.destroy();
      const message = `${shownHost(last)} answered with the status ${response.statusCode}.`;
      throw serviceFailed('unusable_answer', message);
    });
}

/** The answer to a {@link ResourceRequest}. */
export interface ResourceAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Makes a request that a caller has put together. */
export type RequestResource = (
  request: ResourceRequest,
  options: { readonly signal: AbortSignal },
) => Promise<ResourceAnswer>;

/** How long a paid resource may take, and how large it may be: some are computed for each request. */
const RESOURCE_TIMEOUT_MS = 40_000;
const RESOURCE_MAX_BYTES = 256 * 1024;

/**
 * Creates a function that makes any request to https addresses, guarded like {@link createGuardedFetch}, but once and
 * without following a redirect: what is sent may be a proof of payment, which is for nobody else.
 */
export function createGuardedRequest(options: GuardOptions): RequestResource {
  const timeoutMs = options.timeoutMs ?? RESOURCE_TIMEOUT_MS;
  return (request, { signal }) =>
    withinTime(request.url, { signal, timeoutMs }, async (url, ended) => {
      const address = await guardedAddress(url, options, ended, 'not_allowed');
      const { method, headers, body } = request;
      const sent = { url, method, headers, accept: '*/*', address, signal: ended, ca: options.ca };
      const response = await send(body.length === 0 ? sent : { ...sent, body });
      return {
        status: response.statusCode ?? 0,
        headers: headersOf(response.rawHeaders),
        body: await readBytes(response, url, RESOURCE_MAX_BYTES),
      };
    });
}

/** Throws error 113 unless a URL may be asked by these rules, and every address of its host may be reached. */
export async function requireReachable(
  url: URL,
  options: GuardOptions,
  signal: AbortSignal,
): Promise<void> {
  await guardedAddress(url, options, signal, 'not_allowed');
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '');
  return headers;
}

async function withinTime<T>(
  text: string,
  { signal, timeoutMs }: { readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
  ask: (url: URL, ended: AbortSignal) => Promise<T>,
): Promise<T> {
  const url = URL.parse(text);
  if (!url) throw serviceFailed('not_allowed', 'The address of the service is not a URL.');
  const deadline = AbortSignal.timeout(timeoutMs);
  const ended = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    return await ask(url, ended);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (signal?.aborted) throw signal.reason;
    if (deadline.aborted) {
      const limit = inSeconds(timeoutMs / 1000);
      const message = `${shownHost(url)} did not answer within ${limit}: try later.`;
      throw serviceFailed('timed_out', message, error);
    }
    const message = `${shownHost(url)} cannot be reached: check the address or try later.`;
    throw serviceFailed('unreachable', message, error);
  }
}

async function getFollowing(
  start: URL,
  options: GuardOptions,
  signal: AbortSignal,
): Promise<{ readonly response: IncomingMessage; readonly url: URL }> {
  let url = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    // The target of a redirect is part of the service's answer.
    const problem = redirects === 0 ? 'not_allowed' : 'unusable_answer';
    const address = await guardedAddress(url, options, signal, problem);
    const accept = 'application/json';
    const response = await get({ url, address, accept, signal, ca: options.ca });
    const { statusCode = 0, headers } = response;
    if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) {
      return { response, url };
    }
    response.destroy();
    const next = URL.parse(headers.location, url.href);
    if (!next) {
      const message = `${shownHost(url)} redirects to an address that is not a URL.`;
      throw serviceFailed('unusable_answer', message);
    }
    url = next;
  }
  throw serviceFailed('unusable_answer', `${shownHost(start)} redirects too often.`);
}

/** Returns a sentence that says why a URL may not be requested; null when it may. */
function urlObstacle(url: URL, options: GuardOptions): string | null {
  if (url.username !== '' || url.password !== '') {
    return `The address of ${shownHost(url)} holds a user name or password: ask the service for another one.`;
  }
  if (/\.onion\.?$/.test(url.hostname)) {
    return 'Onion services cannot be reached: this sidecar has no Tor connection.';
  }
  const local = options.allowLoopback || options.allowPrivateNetwork;
  const allowed =
    url.protocol === 'https:' || (url.protocol === 'http:' && local && isLocalName(url.hostname));
  return allowed ? null : `The address of ${shownHost(url)} is not https: only https is safe.`;
}

function isLocalName(hostname: string): boolean {
  return hostname === 'localhost' || addressKind(bare(hostname)) === 'loopback';
}

/** Returns an address of the host to connect to. Throws error 113 unless URL and all addresses are allowed. */
async function guardedAddress(
  url: URL,
  options: GuardOptions,
  signal: AbortSignal,
  problem: Extract<ServiceProblem, 'not_allowed' | 'unusable_answer'>,
): Promise<string> {
  const obstacle = urlObstacle(url, options);
  if (obstacle !== null) throw serviceFailed(problem, obstacle);
  const host = bare(url.hostname);
  const resolve = options.resolve ?? resolveAll;
  const addresses = isIP(host) ? [host] : await abortable(resolve(host), signal);
  const [first] = addresses;
  if (first === undefined) {
    throw serviceFailed('unreachable', `${shownHost(url)} has no IP address: check the name.`);
  }
  for (const address of addresses) {
    const kind = addressKind(address);
    const allowed =
      kind === 'public' ||
      options.allowPrivateNetwork ||
      (kind === 'loopback' && options.allowLoopback && isLocalName(url.hostname));
    if (!allowed) {
      throw serviceFailed(
        problem,
        `${shownHost(url)} is not on the public internet: start the sidecar with --allow-private-network if you trust it.`,
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
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
