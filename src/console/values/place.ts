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

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
