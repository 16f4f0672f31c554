import { isIPv6 } from 'node:net';

/** A host as URLs and Host headers write it: an IPv6 address in brackets, everything else as it is. */
export function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
