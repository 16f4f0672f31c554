import type { Parsed } from './parsed.ts';

/** Reads `host:port`, with IPv6 addresses in brackets; port 0 lets the system choose. */
export function parseListenAddress(text: string): Parsed<{ host: string; port: number }> {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host !== undefined && port <= 65_535
    ? { value: { host, port } }
    : { problem: 'must be host:port, such as 127.0.0.1:5393 or [::1]:5393' };
}

/** Reads an http or https URL; a slash at the end is dropped. */
export function parseWebUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:')
    ? { value: text.replace(/\/+$/, '') }
    : { problem: 'must be an http or https URL' };
}

/** Reads a comma separated list of hosts, lower case. */
export function parseAllowedHosts(text: string): string[] {
  return text
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '');
}
