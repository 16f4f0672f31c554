import { isIPv6 } from 'node:net';

/** Returns a host as it is written in URLs and Host headers: IPv6 addresses in brackets, all other hosts unchanged. */
export function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
