/** Returns the token of a one-time link, from the fragment of the page's URL; null when there is none. */
export function linkToken(fragment: string): string | null {
  return /^#link=([0-9a-f]{64})$/.exec(fragment)?.[1] ?? null;
}
