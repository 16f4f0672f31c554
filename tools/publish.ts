import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../package.json';
import { ADDRESSED, PLACES, problemOf } from '../packaging/publishing.ts';

/*
 * Publishes a release to one place: bun run tools/publish.ts <place> [--to <address>] [--publish]
 * Without --publish it only prints the commands.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    to: { type: 'string' },
    release: { type: 'string', default: join('dist', 'release') },
    publish: { type: 'boolean', default: false },
  },
});
const [place = ''] = positionals;
const commandsOf = Object.entries(PLACES).find(([name]) => name === place)?.[1];
if (commandsOf === undefined) refuse(`Name one of ${Object.keys(PLACES).join(', ')}.`);
if (ADDRESSED.has(place) && !values.to)
  refuse(`Name the address of the ${place === 'homebrew' ? 'tap' : 'image'} with --to.`);
const { version } = packageJson;
const { release, to = '', publish } = values;
const problem = await problemOf(release, version, join(import.meta.dir, '..'));
if (problem !== null && publish) refuse(`${problem} Nothing was published.`);
if (problem !== null) console.error(`${problem} With --publish nothing would be published.`);

const files = (await readdir(release).catch(() => [])).toSorted();
const parent = publish ? await mkdtemp(join(tmpdir(), 'wallet-sidecar-publish-')) : tmpdir();
const work = join(parent, 'homebrew-tap');
for (const command of commandsOf({ release, files, version, to, work })) {
  console.log(command.map(quoted).join(' '));
  if (!publish) continue;
  const child = Bun.spawn([...command], { stdio: ['inherit', 'inherit', 'inherit'] });
  if ((await child.exited) !== 0) refuse('The command above has failed; what follows was not run.');
}
if (publish) await rm(parent, { recursive: true });

/** Returns a word as a shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function refuse(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}
