import { BlockList, isIP, isIPv4 } from 'node:net';

/** Ranges that are not on the public internet (IANA special-purpose registries, RFC 6890). */
const SPECIAL: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
];

const special = new BlockList();
for (const [net, prefix, family] of SPECIAL) special.addSubnet(net, prefix, family);

/** Global unicast, the only public IPv6 range, without the parts that embed IPv4 addresses or are for documentation. */
const publicIpv6 = new BlockList();
publicIpv6.addSubnet('2000::', 3, 'ipv6');
const exceptIpv6 = new BlockList();
exceptIpv6.addSubnet('2001::', 23, 'ipv6');
exceptIpv6.addSubnet('2001:db8::', 32, 'ipv6');
exceptIpv6.addSubnet('2002::', 16, 'ipv6');
exceptIpv6.addSubnet('3fff::', 20, 'ipv6');

/** Where an IP address leads; `private` is everything that is neither public nor loopback. */
type AddressKind = 'public' | 'loopback' | 'private';

/** Returns the kind of an IP address. An IPv6 address that embeds an IPv4 address has the kind of that. */
export function addressKind(address: string): AddressKind {
  // A zone, such as in fe80::1%eth0, names a network interface of this machine.
  if (isIP(address) === 0 || address.includes('%')) return 'private';
  if (isIPv4(address)) {
    if (address.startsWith('127.')) return 'loopback';
    return special.check(address, 'ipv4') ? 'private' : 'public';
  }
  const mapped = /^(?:0*:)*(?::|0*:)?ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return addressKind(mapped);
  if (/^(0*:)*:?0*1$/.test(address) && !address.includes('.')) return 'loopback';
  const isPublic = publicIpv6.check(address, 'ipv6') && !exceptIpv6.check(address, 'ipv6');
  return isPublic ? 'public' : 'private';
}
