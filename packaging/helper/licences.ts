/**
 * The licences under which a crate may be linked into the program, in SPDX's names: each lets it be given on in binary
 * form with its text, and asks nothing of the program's own sources. Where a crate offers several, the first is taken.
 */
const PERMISSIVE = [
  ...['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Zlib', '0BSD', 'Unlicense'],
  ...['BSL-1.0', 'MITNFA', 'CC0-1.0', 'Unicode-3.0', 'CDLA-Permissive-2.0'],
];

/**
 * Returns the ways in which an SPDX expression can be met by permissive licences alone, the preferred one first. Each
 * names every licence that then holds. It is empty where there is no such way, and for what cannot be read.
 */
export function permissiveChoices(expression: string): readonly (readonly string[])[] {
  const words = expression.replace(/[()/]/g, ' $& ').trim().split(/\s+/);
  const ways = alternatives(words);
  if (ways === null || words.length > 0) return [];
  const rank = (way: readonly string[]) => Math.max(...way.map((one) => PERMISSIVE.indexOf(one)));
  return ways
    .filter((way) => way.every((one) => PERMISSIVE.includes(one)))
    .toSorted((a, b) => a.length - b.length || rank(a) - rank(b));
}

/** Reads `a OR b`, and `a/b`, which older crates write for it. Null where it cannot be read. */
function alternatives(words: string[]): string[][] | null {
  const ways: string[][] = [];
  do {
    const next = together(words);
    if (next === null) return null;
    ways.push(...next);
  } while (taken(words, 'OR') || taken(words, '/'));
  return ways;
}

function together(words: string[]): string[][] | null {
  let ways: string[][] = [[]];
  do {
    const next = single(words);
    if (next === null) return null;
    ways = ways.flatMap((way) => next.map((one) => [...way, ...one]));
  } while (taken(words, 'AND'));
  return ways;
}

function single(words: string[]): string[][] | null {
  if (!taken(words, '(')) {
    const word = words.shift();
    return word !== undefined && /^[\w.+-]+$/.test(word) ? [[word]] : null;
  }
  const inner = alternatives(words);
  return taken(words, ')') ? inner : null;
}

function taken(words: string[], word: string): boolean {
  if (words[0] !== word) return false;
  words.shift();
  return true;
}
