import { Agent } from 'node:https';
import { readOrLater } from '../codecs/codec-error.ts';
import { type DnsName, type Ds, parseDnsName } from '../codecs/dns/index.ts';
import type { Clock } from '../lib/clock.ts';
import { openDohSource } from './dns-over-https.ts';
import { type ProvenTxt, resolveTxt } from './dnssec/resolve-txt.ts';
import { ROOT_ANCHORS } from './dnssec/root-anchors.ts';
import { Unproven } from './dnssec/unproven.ts';
import { serviceFailed } from './service-error.ts';

/** Returns the bytes of each TXT record of a name, its strings joined; null when the resolver has no such record. */
export type ResolveTxt = (name: string) => Promise<readonly Uint8Array[] | null>;

interface TxtResolverOptions {
  /** A DNS-over-HTTPS resolver (RFC 8484). It need not be trusted. */
  readonly url: string;
  readonly clock: Clock;
  /** Keys of the DNS root in place of the real ones, for tests. */
  readonly anchors?: readonly Ds[];
  /** Certificate authorities to trust in place of the system's, PEM. */
  readonly ca?: string;
  readonly timeoutMs?: number;
}

interface Cached {
  readonly texts: readonly Uint8Array[];
  readonly fromMs: number;
  readonly untilMs: number;
}

const TIMEOUT_MS = 10_000;
/** The most connections of one look-up, which asks two questions about each zone at once. */
const MAX_CONNECTIONS = 2;
const MAX_CACHED = 64;
const MAX_CACHED_SECS = 3600;

/**
 * Creates a function that looks TXT records up over HTTPS and proves them by DNSSEC from the keys of the root
 * (docs/decisions.md 98). A look-up takes at most 10 seconds. Proven records are cached for as long as the proof is
 * valid, an hour at most. Every failure of the look-up is error 113. A text that cannot be a name is CodecError('dns').
 *
 * Throws TypeError when the resolver's URL is not https, since others on the network could then see who is paid.
 */
export function createTxtResolver(options: TxtResolverOptions): ResolveTxt {
  const { url, ca, clock, anchors = ROOT_ANCHORS, timeoutMs = TIMEOUT_MS } = options;
  if (URL.parse(url)?.protocol !== 'https:') {
    throw new TypeError('The DNS-over-HTTPS resolver must be an https URL: check --doh-url.');
  }
  const lookUp = async (name: DnsName, nowSecs: number): Promise<ProvenTxt | null> => {
    // One look-up asks many questions, and a TLS connection for each would cost most of its time.
    const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
    try {
      const source = openDohSource({ url, ca, agent, signal: AbortSignal.timeout(timeoutMs) });
      return await explained(() => resolveTxt(name, { source, anchors, nowSecs }));
    } finally {
      agent.destroy();
    }
  };
  const cache = new Map<string, Cached>();
  return async (name) => {
    const fromMs = clock.now();
    const cached = cache.get(name);
    if (cached && cached.fromMs <= fromMs && fromMs < cached.untilMs) return cached.texts;
    const found = await lookUp(parseDnsName(name), Math.floor(fromMs / 1000));
    cache.delete(name);
    if (found === null) return null;
    const { texts, holdsSecs } = found;
    const untilMs = fromMs + Math.min(holdsSecs, MAX_CACHED_SECS) * 1000;
    const [oldest] = cache.keys();
    if (oldest !== undefined && cache.size >= MAX_CACHED) cache.delete(oldest);
    cache.set(name, { texts, fromMs, untilMs });
    return texts;
  };
}

async function explained(work: () => Promise<ProvenTxt | null>): Promise<ProvenTxt | null> {
  try {
    return await readOrLater(work, (error) => {
      const message = 'The DNS-over-HTTPS resolver answered something unreadable: check --doh-url.';
      throw serviceFailed('unusable_answer', message, error);
    });
  } catch (error) {
    if (error instanceof Unproven) throw serviceFailed('unusable_answer', error.message, error);
    throw error;
  }
}
