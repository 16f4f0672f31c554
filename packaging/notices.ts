import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The name of the file in a release. */
export const NOTICES = 'THIRD_PARTY_NOTICES.txt';

/**
 * Copyright lines of packages that declare the MIT licence but contain no text of it. They are taken from the packages'
 * repositories, or name the author that the package names.
 */
const HOLDERS: Readonly<Record<string, string>> = {
  '@hono/zod-validator': 'Copyright (c) 2021 - present, Yusuke Wada and Hono contributors',
  'nostr-wasm': 'Copyright (c) fiatjaf <fiatjaf@gmail.com>',
  standardwebhooks: 'Copyright (c) 2023 Svix (https://www.svix.com)',
};

/** The text in which Bun's authors state its licence, and those of the software that Bun contains. */
const RUNTIME_LICENSE = 'node_modules/bun-types/docs/project/license.mdx';

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  /** What is needed only for development. */
  readonly dev?: boolean;
  /** The same, and named by another package as one that it can use, as types are. */
  readonly devOptional?: boolean;
  /** What is installed only where it fits: programs for other machines. */
  readonly optional?: boolean;
}

/**
 * Returns the licences of everything in a binary: the runtime, and every package of the lock file that is needed at run
 * time. `root` is a checkout with its packages installed. Throws when a package has no licence text.
 */
export async function thirdPartyNotices(root: string): Promise<string> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const packages = Object.entries<LockedPackage>(lock.packages).filter(
    ([path, { dev, devOptional, optional }]) => path !== '' && !(dev || devOptional || optional),
  );
  const entries = await Promise.all(packages.map(([path, found]) => entryOf(root, path, found)));
  return separated([
    'wallet-sidecar contains software by other authors. The licences of that software follow.\n',
    await runtimeEntry(root),
    ...entries,
  ]);
}

/** Joins the entries of a file of notices. */
export function separated(entries: readonly string[]): string {
  return entries.join(`\n${'='.repeat(80)}\n\n`);
}

async function runtimeEntry(root: string): Promise<string> {
  const text = await readFile(join(root, RUNTIME_LICENSE), 'utf8');
  const { bun, webkit } = process.versions as Readonly<Record<string, string>>;
  return [
    `bun ${bun}\n`,
    `Its source is at https://github.com/oven-sh/bun, tag bun-v${bun};`,
    `that of JavaScriptCore at https://github.com/oven-sh/WebKit, commit ${webkit}.\n`,
    text.replace(/^---\n.*?\n---\n+/s, ''),
    mitText('Copyright (c) Oven and the contributors of Bun'),
  ].join('\n');
}

async function entryOf(root: string, path: string, found: LockedPackage): Promise<string> {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const text = (await licenseIn(join(root, path))) ?? knownLicense(name, found.license);
  if (text === null)
    throw new Error(`${name} has no licence text: add its copyright line to HOLDERS.`);
  return `${name} ${found.version}\n${found.license}\n\n${text.trim()}\n`;
}

async function licenseIn(folder: string): Promise<string | null> {
  const file = (await readdir(folder)).find((name) => /^(licen[cs]e|copying)/i.test(name));
  return file === undefined ? null : readFile(join(folder, file), 'utf8');
}

function knownLicense(name: string, license: string | undefined): string | null {
  const holder = HOLDERS[name];
  return holder !== undefined && license === 'MIT' ? mitText(holder) : null;
}

/** Returns the text of the MIT licence, with a further condition of those that are made of it. */
export function mitText(copyright: string, condition: string | null = null): string {
  return `MIT License${condition === null ? '' : ', with a further condition'}

${copyright}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.
${condition === null ? '' : `\n${condition}\n`}
THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`;
}
