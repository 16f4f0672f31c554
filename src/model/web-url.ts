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
