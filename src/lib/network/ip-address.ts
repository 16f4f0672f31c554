import { isIP, isIPv4 } from 'node:net';

/**
 * Returns an IP address in its one canonical form: an IPv4 address that is embedded in an IPv6 address as IPv4, an IPv6
 * address compressed and in lower case, without its zone. Null for any other text.
 */
export function canonicalIp(text: string): string | null {
  const address = text.replace(/%.*$/, '');
  if (isIP(address) === 0) return null;
  if (isIPv4(address)) return address;
  const compressed = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(compressed);
  if (!mapped) return compressed;
  return [mapped[1], mapped[2]]
    .map((part) => Number.parseInt(part ?? '', 16))
    .flatMap((number) => [number >> 8, number & 0xff])
    .join('.');
}

/** Returns the network of the subscriber of a canonical address: 64 bits of IPv6, or all of IPv4. */
export function subscriberOf(address: string): string {
  if (isIPv4(address)) return address;
  const [before = '', after] = address.split('::');
  const first = before === '' ? [] : before.split(':');
  const last = after === undefined || after === '' ? [] : after.split(':');
  const zeros = after === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...Array.from({ length: zeros }, () => '0'), ...last];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
