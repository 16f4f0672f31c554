import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { manPage } from '../../tools/man-page.ts';
import { commandsOf, documentedProgram } from '../support/program.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const program = await documentedProgram();
const commands = commandsOf(program);
const leaves = commands.filter(({ command }) => command.commands.length === 0);
const paths = commands.map(({ path }) => path);

describe('help', () => {
  for (const path of [[], ...paths]) {
    const name = ['wallet-sidecar', ...path].join(' ');
    test(`${name} --help ends with 0 and shows an example`, async () => {
      const { exitCode, stdout, stderr } = await runBinary([...path, '--help']);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect((await runBinary(['help', ...path])).stdout).toBe(stdout);
      // What writes a secret into a file makes the file its own.
      const unwrapped = stdout.replace(/ \\\n +/g, ' ').replaceAll(/\(umask 077; (.+)\)$/gm, '$1');
      expect(unwrapped).toContain(`\n\nExamples:\n  $ wallet-sidecar`);
      const examples = [...unwrapped.matchAll(/^ {2}\$ (.+)$/gm)].map((match) => match[1] ?? '');
      // `serve` also runs when no command is named.
      expect(examples.some((example) => `${example} `.startsWith(`${name} `))).toBe(true);
      for (const example of examples) expect(unknownFlags(example)).toEqual([]);
    });
  }

  test('every command but serve, which has a log format, speaks JSON', () => {
    const silent = leaves
      .filter(({ command }) => !command.options.some(({ long }) => long === '--json'))
      .map(({ path }) => path.join(' '));
    expect(silent).toEqual(['serve']);
  });
});

describe('a command is made without the others, and with all that it has among them', () => {
  const SHOWS_ALL = ['completions'];
  const servers = ['serve', 'dev'];
  for (const command of program.commands.filter((one) => !servers.includes(one.name()))) {
    const name = command.name();
    test(name, async () => {
      const { commands: made } = await documentedProgram([name, '--json']);
      expect(made.length > 3).toBe(SHOWS_ALL.includes(name));
      const alone = made.find((one) => one.name() === name);
      const all = (of: typeof command) =>
        commandsOf(of).map((one) => one.command.helpInformation());
      expect(alone?.helpInformation()).toBe(command.helpInformation());
      expect(alone && all(alone)).toEqual(all(command));
    });
  }

  test('but all are made where the words begin with none of them', async () => {
    for (const words of [[], ['--help'], ['help', 'pay'], ['pya'], ['--json', 'pay']]) {
      const { commands: made } = await documentedProgram(words);
      expect(made.map((one) => one.name())).toEqual(program.commands.map((one) => one.name()));
    }
  });
});

test('what few people need stands under a heading of its own', async () => {
  const advanced = async (...path: string[]) => {
    const { stdout } = await runBinary([...path, '--help']);
    const [, text = ''] = /\nAdvanced:\n((?:.+\n)+)/.exec(stdout) ?? [];
    return [...text.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
  };
  expect(await advanced()).toEqual(['updates', 'provision', 'secrets-key', 'migrate', 'ldk']);
  expect(await advanced('clients')).toEqual(['prune', 'confirm']);
});

test('the man page has every command and flag, and roff finds no fault with it', async () => {
  const page = await manPage('0');
  const plain = page.replaceAll('\\-', '-').replaceAll('\\(dq', '"');
  for (const { path, command } of leaves) {
    expect(plain).toMatch(new RegExp(`^\\.SS "${path.join(' ')}[ "]`, 'm'));
    expect(plain).toContain(command.description());
    for (const { long } of command.options) expect(plain).toContain(long ?? 'a long name');
  }
  if (!Bun.which('groff')) return console.warn('SKIPPED: groff is missing.');
  const { stdout, stderr } = Bun.spawnSync(['groff', '-man', '-Tutf8', '-ww'], {
    stdin: Buffer.from(page),
  });
  expect(stderr.toString()).toBe('');
  expect(stdout.toString()).toContain('WALLET-SIDECAR(1)');
});

test('payments goes by when they were made, and leads to export for when they were completed', async () => {
  const { stdout } = await runBinary(['payments', '--help']);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('"export" goes by when they were completed');
});

/** Returns the flags in an example that its command does not have. */
function unknownFlags(example: string): string[] {
  const [line = ''] = example.split(/ [>&|]/);
  const words = line.split(' ').slice(1);
  const at = commands.findLast(({ path }) => path.every((word, depth) => words[depth] === word));
  const command = at?.command ?? program.commands.find((one) => one.name() === 'serve');
  const known = command?.options.flatMap(({ long, short }) => [long, short]) ?? [];
  return words.filter((word) => /^--?[a-z]/i.test(word) && !known.includes(word));
}
