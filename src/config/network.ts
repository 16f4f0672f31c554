import { canonicalIp } from '../lib/network/ip-address.ts';
import { urlHost } from '../lib/network/url-host.ts';
import { CHANNEL_PEER_FORM, type ChannelPeer, parseChannelPeer } from '../model/channel.ts';
import type { Parsed } from '../model/parsed.ts';
import type { ProxyAddress } from '../model/proxy-address.ts';
import { parseServerUrl } from '../model/web-url.ts';

/** Reads `host:port`, with IPv6 addresses in brackets. With port 0 the system chooses a free port. */
export function parseListenAddress(text: string): Parsed<{ host: string; port: number }> {
  const value = hostAndPort(text);
  return value ? { value } : { problem: 'must be host:port, such as 127.0.0.1:5393 or [::1]:5393' };
}

/** Reads the `host:port` of a SOCKS5 proxy, with IPv6 addresses in brackets. */
export function parseProxyAddress(text: string): Parsed<ProxyAddress> {
  const value = hostAndPort(text);
  return value && value.port > 0
    ? { value }
    : { problem: 'must be host:port of a SOCKS5 proxy, such as 127.0.0.1:9050' };
}

function hostAndPort(text: string): { host: string; port: number } | null {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host !== undefined && port <= 65_535 ? { host, port } : null;
}

/** Reads the http or https URL of a server's root or of a folder there: no user, no query, no fragment. */
export function parseBaseUrl(text: string): Parsed<string> {
  const { username, password } = URL.parse(text) ?? { username: '', password: '' };
  return /[?#]/.test(text) || username !== '' || password !== ''
    ? { problem: 'must be an http or https URL without user, query and fragment' }
    : parseServerUrl(text);
}

/** Reads a domain with an optional port, which becomes lower case. */
export function parseDomain(text: string): Parsed<string> {
  const host = text.toLowerCase();
  return /^[a-z0-9.:[\]-]+$/.test(host) && URL.parse(`https://${host}/`)?.host === host
    ? { value: host }
    : { problem: 'must be a domain, such as example.com' };
}

/** Reads an IP address in its canonical form. */
export function parseIp(text: string): Parsed<string> {
  const value = canonicalIp(text);
  return value === null ? { problem: 'must be an IP address, such as 127.0.0.1' } : { value };
}

/** Reads `<pubkey>@<host>:<port>`. */
export function parsePeer(text: string): Parsed<ChannelPeer> {
  const value = parseChannelPeer(text);
  return value ? { value } : { problem: CHANNEL_PEER_FORM };
}

/** Reads a comma separated list; empty entries are left out. */
export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Returns the base URL under which programs on this machine reach a server that listens on `host` and `port`. */
export function localUrl({ host, port }: { host: string; port: number }): string {
  const bracketed = urlHost(host);
  const name = URL.parse(`http://${bracketed}/`)?.hostname ?? host;
  // These two mean "all addresses of this machine". No client can connect to them on every platform.
  const reached = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }[name] ?? bracketed;
  return `http://${reached}:${port}`;
}
