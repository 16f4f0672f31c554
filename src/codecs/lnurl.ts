import { bech32 } from '@scure/base';
import { CodecError } from './codec-error.ts';
import { isLoopback, schemeFor } from './web-host.ts';

interface Lnurl {
  /** The LNURL itself, in lower case where it is bech32. */
  readonly text: string;
  readonly url: string;
  /** The purpose, as the scheme or the URL's parameter `tag` says it before any request; null when unknown. */
  readonly tagHint: 'pay' | 'withdraw' | null;
}

const BECH32 = /^lnurl1/i;
/** Longer strings are invalid before any other check. */
const MAX_LENGTH = 4_000;
/** The schemes of LUD-17 and their purposes. */
const PLAIN_SCHEMES: Readonly<Record<string, 'pay' | 'withdraw'>> = {
  lnurlp: 'pay',
  lnurlw: 'withdraw',
};
const TAGS: Readonly<Record<string, 'pay' | 'withdraw'>> = {
  payRequest: 'pay',
  withdrawRequest: 'withdraw',
};

/** Reads an LNURL: bech32 (LUD-01), `lnurlp://` or `lnurlw://` (LUD-17). Throws CodecError('lnurl'). */
export function decodeLnurl(text: string): Lnurl {
  if (text.length > MAX_LENGTH) invalid('it is too long');
  if (BECH32.test(text)) return fromBech32(text);
  const plain = /^([a-z]+):(?:\/\/)?(.*)$/is.exec(text);
  const scheme = plain?.[1]?.toLowerCase() ?? '';
  if (scheme === 'keyauth') invalid('it is for logging in, which is not supported');
  if (scheme === 'lnurlc') invalid('it is for opening a channel, which is not supported');
  const tagHint = PLAIN_SCHEMES[scheme];
  if (tagHint && plain?.[2]) {
    const host = /^[^/?#]*/.exec(plain[2])?.[0] ?? '';
    return { text, url: checkUrl(`${schemeFor(host)}://${plain[2]}`).href, tagHint };
  }
  return invalid('it is neither lnurl1..., lnurlp:// nor lnurlw://');
}

/**
 * Returns the bech32 LNURL in the query parameter `lightning` of a web address (LUD-01, fallback scheme), without
 * reading it; null when the address has none, or several, or is plain http where that is not allowed. The web address
 * itself is never requested.
 */
export function lnurlInWebAddress(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !hasAllowedScheme(url)) return null;
  const parameters = [...url.searchParams];
  const carried = parameters.filter(([name]) => name.toLowerCase() === 'lightning');
  const [lnurl] = carried.map(([, value]) => value);
  return carried.length === 1 && lnurl !== undefined && BECH32.test(lnurl) ? lnurl : null;
}

/** Writes a URL as bech32 LNURL, lower case (LUD-01). */
export function encodeLnurl(url: string): string {
  return bech32.encode('lnurl', bech32.toWords(new TextEncoder().encode(url)), false);
}

function invalid(rule: string): never {
  throw new CodecError('lnurl', `The LNURL cannot be used: ${rule}.`);
}

/** Returns the text inside a bech32 LNURL (LUD-01), without checking that it is a URL. Throws CodecError('lnurl'). */
export function decodeBech32(text: string): string {
  const decoded = bech32.decodeUnsafe(text, false);
  const bytes = decoded?.prefix === 'lnurl' ? bech32.fromWordsUnsafe(decoded.words) : undefined;
  if (!bytes) invalid('its checksum is wrong, or part of it was lost in copying');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return invalid('it does not hold text');
  }
}

function fromBech32(text: string): Lnurl {
  const url = checkUrl(decodeBech32(text));
  const tag = url.searchParams.get('tag');
  if (tag === 'login') invalid('it is for logging in, which is not supported');
  return {
    text: text.toLowerCase(),
    url: url.href,
    tagHint: (tag !== null && TAGS[tag]) || null,
  };
}

/** LUD-01: https, or http for onion hosts. Loopback hosts pass here; whether they are allowed is checked on request. */
function hasAllowedScheme({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true;
  return protocol === 'http:' && (hostname.endsWith('.onion') || isLoopback(hostname));
}

function checkUrl(text: string): URL {
  const url = URL.parse(text) ?? invalid('it does not hold a web address');
  if (!hasAllowedScheme(url)) invalid('its address is not https');
  if (url.protocol === 'https:' && url.hostname.endsWith('.onion')) {
    invalid('an onion address must use http');
  }
  if (url.username !== '' || url.password !== '')
    invalid('its address holds a user name or password');
  return url;
}
