import type { Parsed } from './parsed.ts';

/** Reads an http or https URL. It stays as it was typed, so it holds no blanks and control characters. */
export function parseWebUrl(text: string): Parsed<string> {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:')
    ? { value: text }
    : { problem: 'must be an http or https URL' };
}

/** Reads an http or https URL to which paths are added. Slashes at the end are dropped. */
export function parseServerUrl(text: string): Parsed<string> {
  const parsed = parseWebUrl(text);
  if ('problem' in parsed) return parsed;
  // A pattern would begin anew at each slash.
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return { value: text.slice(0, end) };
}

/** Reads the http or https URL of an Esplora, to which paths are added. It may hold a percent-encoded password. */
export function parseEsploraUrl(text: string): Parsed<string> {
  const parsed = parseServerUrl(text);
  if ('problem' in parsed) return parsed;
  if (/[?#]/.test(text)) return { problem: 'must be a URL without query and fragment' };
  const { username, password } = new URL(text);
  try {
    decodeURIComponent(`${username}:${password}`);
    return parsed;
  } catch {
    return { problem: 'must have %25 for each % of its user and password' };
  }
}

/** The server from which a node of one's own reads the chain. */
export type ChainServer =
  | { readonly esplora: string }
  /** As {@link parseElectrumUrl} reads it. */
  | { readonly electrum: string };

const HIGHEST_PORT = 65_535;

/** Reads the address of an Electrum server: `ssl://host:port`, or `tcp://host:port` without encryption. */
export function parseElectrumUrl(text: string): Parsed<string> {
  const [, host, port] =
    /^(?:tcp|ssl):\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})$/.exec(text) ?? [];
  return host && Number(port) >= 1 && Number(port) <= HIGHEST_PORT
    ? { value: text }
    : { problem: 'must be ssl://host:port or tcp://host:port' };
}
