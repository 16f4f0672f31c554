/** A place in the console: the page, and what it shows of it. It stands behind the `#` of the URL. */
export interface Place {
  readonly page: string;
  /** What follows the page, such as a payment's index; empty for nothing. */
  readonly rest: string;
}

/** Returns the place that a fragment names, such as `#/payments/0000...`. */
export function placeOf(fragment: string): Place {
  const [, page = '', rest = ''] = /^#\/([a-z-]*)(?:\/(.*))?$/.exec(fragment) ?? [];
  return { page, rest: decoded(rest) };
}

/** Returns the link to a place. */
export function linkTo(page: string, rest = ''): string {
  return `#/${page}${rest === '' ? '' : `/${encodeURIComponent(rest)}`}`;
}

/** Returns the token of a one-time link, from the fragment of the page's URL; null when there is none. */
export function linkToken(fragment: string): string | null {
  return /^#link=([0-9a-f]{64})$/.exec(fragment)?.[1] ?? null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
