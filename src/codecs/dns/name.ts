import { joinBytes } from '../tlv.ts';
import { invalidDns } from './invalid-dns.ts';

/**
 * A domain name: its labels from the left; the root has none. Each character of a label is one byte. Letters are in
 * lower case, the form in which names are compared and signed (RFC 4034 section 6.2).
 */
export type DnsName = readonly string[];

const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;
/** The most labels that fit a name. It is also the limit of pointers, so that a name cannot lead in a circle. */
const MAX_JUMPS = 127;

/** Makes a name of labels. Throws CodecError('dns') for labels and names of a length that the DNS does not allow. */
export function dnsName(labels: readonly string[]): DnsName {
  for (const { length } of labels) {
    if (length === 0 || length > MAX_LABEL_BYTES) invalidDns('has a label of a wrong length');
  }
  const bytes = labels.reduce((sum, { length }) => sum + 1 + length, 1);
  if (bytes > MAX_NAME_BYTES) invalidDns('has a name that is too long');
  return labels.map(lowerCase);
}

/** Reads a name from ASCII text without escapes. A dot at its end is optional. Throws CodecError('dns'). */
export function parseDnsName(text: string): DnsName {
  if (!/^[!-~]*$/.test(text) || text.includes('\\'))
    invalidDns('has a name with characters that are not allowed');
  const bare = text.replace(/\.$/, '');
  return dnsName(bare === '' ? [] : bare.split('.'));
}

/** Writes a name in printable ASCII, with other bytes as `\DDD` (RFC 1035 section 5.1). No two names share a text. */
export function showDnsName(name: DnsName): string {
  const escaped = (label: string) =>
    label
      .replace(/[.\\]/g, '\\$&')
      .replace(/[^!-~]/g, (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, '0')}`);
  return name.map(escaped).join('.') || '.';
}

/** Writes a name in wire form, without compression. */
export function encodeDnsName(name: DnsName): Uint8Array {
  const labels = name.map((label) => Buffer.from(label, 'latin1'));
  return joinBytes([
    ...labels.flatMap((label) => [Uint8Array.of(label.length), label]),
    Uint8Array.of(0),
  ]);
}

/**
 * Reads the name at `offset`. Returns it with the offset after it. Pointers (RFC 1035 section 4.1.4) are followed only
 * if `pointers` allows them, and only backwards. Throws CodecError('dns').
 */
export function readDnsName(
  bytes: Uint8Array,
  offset: number,
  { pointers }: { readonly pointers: boolean },
): { readonly name: DnsName; readonly end: number } {
  const labels: string[] = [];
  let at = offset;
  let end: number | null = null;
  for (let jumps = 0; ; ) {
    const length = byteAt(bytes, at);
    if (length >= 0xc0) {
      if (!pointers) invalidDns('has a compressed name where none is allowed');
      const target = ((length & 0x3f) << 8) | byteAt(bytes, at + 1);
      end ??= at + 2;
      if (target >= at || ++jumps > MAX_JUMPS) invalidDns('has a name that leads in a circle');
      at = target;
      continue;
    }
    if (length > MAX_LABEL_BYTES) invalidDns('has a label of an unknown kind');
    if (length === 0) return { name: dnsName(labels), end: end ?? at + 1 };
    if (at + 1 + length > bytes.length) invalidDns('ends in the middle of a name');
    labels.push(Buffer.from(bytes.subarray(at + 1, at + 1 + length)).toString('latin1'));
    if (labels.length > MAX_JUMPS) invalidDns('has a name that is too long');
    at += 1 + length;
  }
}

/** Returns whether two names are the same. */
export function isSameName(a: DnsName, b: DnsName): boolean {
  return a.length === b.length && isWithin(a, b);
}

/** Returns whether a name is `zone` or below it. */
export function isWithin(name: DnsName, zone: DnsName): boolean {
  const shared = lastLabels(name, zone.length);
  return name.length >= zone.length && shared.every((label, index) => label === zone[index]);
}

/** Returns whether a name is below `zone`, and not `zone` itself. */
export function isBelow(name: DnsName, zone: DnsName): boolean {
  return name.length > zone.length && isWithin(name, zone);
}

/** Returns the name of the last `count` labels. */
export function lastLabels(name: DnsName, count: number): DnsName {
  return name.slice(Math.max(0, name.length - count));
}

/** Compares names in canonical order (RFC 4034 section 6.1): label by label from the right, as bytes. */
export function compareNames(a: DnsName, b: DnsName): number {
  for (let depth = 1; depth <= Math.min(a.length, b.length); depth++) {
    const [left = '', right = ''] = [a.at(-depth), b.at(-depth)];
    if (left !== right) return left < right ? -1 : 1;
  }
  return a.length - b.length;
}

function lowerCase(label: string): string {
  return label.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function byteAt(bytes: Uint8Array, offset: number): number {
  return bytes[offset] ?? invalidDns('ends in the middle of a name');
}
