import type { Parsed } from './parsed.ts';

/** Reads an http or https URL. Slashes at the end are dropped. */
export function parseWebUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:')
    ? { value: withoutEnd(text) }
    : { problem: 'must be an http or https URL' };
}

/** Drops slashes at the end, in time that grows with the text alone: a pattern would begin anew at each slash. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}
