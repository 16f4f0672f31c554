import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { mitText, separated } from '../notices.ts';
import { type Crate, folderOf } from './crates.ts';
import { permissiveChoices } from './licences.ts';

/** How the file of a licence is called, at the top of a crate or in the folder of sources that it brings along. */
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|unlicense)(?:[.-][\w.-]+)?$/i;

/** Words in the name of a file that say whose text it is, by the licence. */
const IN_FILE_NAMES: Readonly<Record<string, RegExp>> = {
  MIT: /mit/i,
  'Apache-2.0': /apache/i,
  'BSL-1.0': /boost|bsl/i,
  'BSD-2-Clause': /bsd/i,
  Unlicense: /unlicense/i,
  Zlib: /zlib/i,
};

/** How a text of these licences begins. Crates without a file of their own get the text of another crate. */
const BEGINS: Readonly<Record<string, RegExp>> = {
  'Apache-2.0': /^\s*Apache License\s+Version 2\.0/,
  'CC0-1.0': /^\s*(?:Creative Commons )?(?:Legal Code\s+)?CC0 1\.0 Universal/,
};

const NO_FALSE_ATTRIBUTION =
  "Distributions of all or part of the Software intended to be used by the recipients as they would use the unmodified Software, containing modifications that substantially alter, remove, or disable functionality of the Software, outside of the documented configuration mechanisms provided by the Software, shall be modified such that the Original Author's bug reporting email addresses and urls are either replaced with the contact information of the parties responsible for the changes, or removed entirely.";

/** The part of Rust that is linked into every program. */
const STANDARD_LIBRARY = { name: 'the Rust standard library', licence: 'Apache-2.0' };

/**
 * Returns the licences of what is linked into the helper, crates with the same text together. Throws for a crate that
 * may not be given on under a permissive licence alone, and for one without a licence text.
 */
export async function helperNotices(crates: readonly Crate[]): Promise<string> {
  const found = await Promise.all(crates.map(textsOf));
  const shared = (licence: string) => {
    const begins = BEGINS[licence];
    return found.flatMap(({ texts }) => texts).find((text) => begins?.test(text)) ?? null;
  };
  const byText = new Map<string, string[]>();
  const add = (name: string, text: string) =>
    byText.set(text, [...(byText.get(text) ?? []), name]);
  for (const { crate, ways, texts } of found) {
    const name = `${crate.name} ${crate.version} (${crate.license})`;
    const own = texts.length > 0 ? texts.join('\n\n') : null;
    const text = own ?? ways.map((way) => withoutFile(crate, way, shared)).find(isText);
    if (!isText(text)) throw new Error(`The crate ${name} has no licence text.`);
    add(name, text);
  }
  add(STANDARD_LIBRARY.name, shared(STANDARD_LIBRARY.licence) ?? '');
  const entries = [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text.trim()}\n`);
  return separated(entries);
}

const isText = (text: string | null | undefined): text is string => typeof text === 'string';

/** Returns how a crate may be used, and the texts that it brings. */
async function textsOf(crate: Crate) {
  const ways = permissiveChoices(crate.license ?? '');
  const [way] = ways;
  if (way === undefined) {
    throw new Error(
      `The crate ${crate.name} ${crate.version} has the licence ${crate.license}, which is not permissive: use another crate.`,
    );
  }
  const folder = folderOf(crate);
  const all = (await readdir(folder, { recursive: true })).filter((path) =>
    LICENCE_FILE.test(basename(path)),
  );
  const [own, brought] = [all.filter((path) => !/[\\/]/.test(path)), all.filter(isBelow)];
  const others = Object.entries(IN_FILE_NAMES).filter(([licence]) => !way.includes(licence));
  const fitting = own.filter((path) => !others.some(([, words]) => words.test(path)));
  const files = [...(fitting.length > 0 ? fitting : own).toSorted(), ...brought.toSorted()];
  const texts = await Promise.all(files.map((path) => readFile(join(folder, path), 'utf8')));
  return { crate, ways, texts: texts.map((text) => text.replaceAll('\r\n', '\n')) };
}

const isBelow = (path: string) => /[\\/]/.test(path);

/** Returns the text of a licence for a crate that has no file with it; null where there is none. */
function withoutFile(
  { authors }: Crate,
  [licence = '', ...more]: readonly string[],
  shared: (licence: string) => string | null,
): string | null {
  if (more.length > 0) return null;
  if (licence === 'MITNFA')
    return mitText(`Copyright (c) ${authors.join(', ')}`, NO_FALSE_ATTRIBUTION);
  return shared(licence);
}
