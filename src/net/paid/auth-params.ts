/** One challenge of a WWW-Authenticate header (RFC 9110, section 11.6.1). */
interface AuthChallenge {
  /** In lower case. */
  readonly scheme: string;
  /** By name in lower case. */
  readonly params: ReadonlyMap<string, string>;
}

const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;
const SPACE = /[ \t]*/y;

/**
 * Reads the challenges of a WWW-Authenticate header, of which several may be joined by commas. What does not follow the
 * grammar ends the reading; the challenges before it count. A parameter given twice makes its challenge unusable, and
 * leaves it out.
 */
export function authChallenges(header: string): readonly AuthChallenge[] {
  const found: { scheme: string; params: Map<string, string>; isTwice: boolean }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match) at += match[0].length;
    return match;
  };
  const skip = (character: string): boolean => {
    take(SPACE);
    if (header[at] !== character) return false;
    at += 1;
    take(SPACE);
    return true;
  };
  while (at < header.length) {
    while (skip(','));
    const name = take(TOKEN)?.[0];
    if (name === undefined) break;
    if (!skip('=')) {
      found.push({ scheme: name.toLowerCase(), params: new Map(), isTwice: false });
      take(SPACE);
      continue;
    }
    const quoted = take(QUOTED)?.[1]?.replace(/\\(.)/g, '$1');
    // Some servers write base64 without quotation marks, as far as the next comma.
    const value = quoted ?? take(/[^\s,"]+/y)?.[0];
    const current = found.at(-1);
    if (value === undefined || current === undefined) break;
    const key = name.toLowerCase();
    current.isTwice ||= current.params.has(key);
    current.params.set(key, value);
  }
  return found.filter(({ isTwice }) => !isTwice);
}

/** Writes a challenge as a header line, its values in quotation marks. */
export function challengeLine(scheme: string, params: Readonly<Record<string, string>>): string {
  const written = Object.entries(params).map(
    ([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`,
  );
  return `WWW-Authenticate: ${scheme} ${written.join(', ')}`;
}
