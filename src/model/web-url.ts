import type { Parsed } from './parsed.ts';

/** Reads an http or https URL. Slashes at the end are dropped. */
export function parseWebUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:')
    ? { value: text.replace(/\/+$/, '') }
    : { problem: 'must be an http or https URL' };
}
