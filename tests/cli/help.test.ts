import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { commandsOf, documentedProgram } from '../support/program.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const program = documentedProgram();
const commands = commandsOf(program);
const leaves = commands.filter(({ command }) => command.commands.length === 0);
const paths = commands.map(({ path }) => path);

describe('help', () => {
  for (const path of [[], ...paths]) {
    const name = ['wallet-sidecar', ...path].join(' ');
    test(`${name} --help ends with 0 and shows an example`, async () => {
      const { exitCode, stdout, stderr } = await runBinary([...path, '--help']);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toContain(`\n\nExamples:\n  $ wallet-sidecar`);
      const examples = [...stdout.matchAll(/^ {2}\$ (.+)$/gm)].map((match) => match[1] ?? '');
      // `serve` also runs when no command is named.
      expect(examples.some((example) => `${example} `.startsWith(`${name} `))).toBe(true);
      for (const example of examples) expect(unknownFlags(example)).toEqual([]);
    });
  }

  test('every command but the servers, which have a log format, speaks JSON', () => {
    const silent = leaves
      .filter(({ command }) => !command.options.some(({ long }) => long === '--json'))
      .map(({ path }) => path.join(' '));
    expect(silent).toEqual(['serve', 'dev']);
  });
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
