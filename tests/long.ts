import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import { ROOT } from './support/binary.ts';

/** `npm run test:long`: the test files that draw what they try, with their many rounds. Arguments go to `bun test`. */
const SWITCH = join(ROOT, 'tests', 'support', 'rounds.ts');
/** Files that go with another program and its settings: `npm run test:nodes`. */
const OTHERS = 'tests/interop/';

const transpiler = new Bun.Transpiler({ loader: 'ts' });
const reached = new Map<string, boolean>();

/** Whether a file has its number of rounds from {@link SWITCH}, itself or through what it imports. */
function hasRounds(file: string): boolean {
  const known = reached.get(file);
  if (known !== undefined) return known;
  reached.set(file, false);
  const found = transpiler
    .scanImports(readFileSync(file))
    .map(({ path }) => join(dirname(file), path))
    .filter((path) => path.startsWith(join(ROOT, 'tests')) && path.endsWith('.ts'))
    .some((path) => path === SWITCH || hasRounds(path));
  reached.set(file, found);
  return found;
}

const files = [...new Glob('tests/**/*.test.ts').scanSync(ROOT)]
  .filter((file) => !file.startsWith(OTHERS) && hasRounds(join(ROOT, file)))
  .toSorted();
console.log(`The long run has ${files.length} files.`);
const child = Bun.spawn(
  [
    ...[process.execPath, 'test', '--timeout', '60000', '--parallel=4'],
    ...['--timings', 'tests/timings.json', ...process.argv.slice(2)],
    ...files.map((file) => `./${file}`),
  ],
  { cwd: ROOT, env: { TEST_LONG: '1', ...process.env }, stdio: ['ignore', 'inherit', 'inherit'] },
);
process.exitCode = await child.exited;
