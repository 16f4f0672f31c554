import { canonicalIp, subscriberOf } from '../../lib/ip-address.ts';

interface SourceFacts {
  /** The address of the other end of the connection; null where it is not known. */
  readonly peer: string | null;
  /** The header X-Forwarded-For. Anybody can write it, so it counts only as far as trusted proxies wrote it. */
  readonly forwardedFor: string | null;
  /** Canonical addresses of the proxies that the configuration names. */
  readonly trustedProxies: ReadonlySet<string>;
}

/**
 * Returns a name for the source of a request, by which requests of strangers are bounded (docs/decisions.md 100). The
 * source is the other end of the connection. While that is a trusted proxy, it is the address that this proxy added at
 * the end of X-Forwarded-For. Addresses of one IPv6 subscriber are one source.
 */
export function sourceAddress({ peer, forwardedFor, trustedProxies }: SourceFacts): string {
  let source = peer === null ? null : canonicalIp(peer);
  const chain = forwardedFor?.split(',') ?? [];
  while (source !== null && trustedProxies.has(source)) {
    const before = canonicalIp(chain.pop()?.trim() ?? '');
    if (before === null) break;
    source = before;
  }
  return source === null ? 'unknown' : subscriberOf(source);
}
