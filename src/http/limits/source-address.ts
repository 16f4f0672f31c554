import type { Context } from 'hono';
import { canonicalIp, subscriberOf } from '../../lib/network/ip-address.ts';
import type { AppEnv } from '../env.ts';

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

/** Returns the {@link sourceAddress} of a request; of one that was passed on, as the sidecar tells that was called. */
export function sourceOf(
  { env, req }: Context<AppEnv>,
  trustedProxies: ReadonlySet<string>,
): string {
  if (env?.passedOn) return env.passedOn.source;
  return sourceAddress({
    peer: env?.peer?.(req.raw) ?? null,
    forwardedFor: req.header('x-forwarded-for') ?? null,
    trustedProxies,
  });
}
