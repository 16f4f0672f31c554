import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { documentedProgram } from './program.ts';
import { runBinary } from './sidecar.ts';

const program = documentedProgram();
const commands = commandsBelow(program, []);
const leaves = commands.filter(({ command }) => command.commands.length === 0);
const paths = commands.map(({ path }) => path);

function commandsBelow(
  command: Command,
  path: readonly string[],
): { path: readonly string[]; command: Command }[] {
  return command.commands.flatMap((child) => {
    const here = [...path, child.name()];
    return [{ path: here, command: child }, ...commandsBelow(child, here)];
  });
}

describe('help', () => {
  for (const path of [[], ...paths]) {
    const name = ['wallet-sidecar', ...path].join(' ');
    test(`${name} --help ends with 0 and shows an example`, async () => {
      const { exitCode, stdout, stderr } = await runBinary([...path, '--help']);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toContain(`\n\nExamples:\n  $ wallet-sidecar`);
      const examples = [...stdout.matchAll(/^ {2}\$ (.+)$/gm)].map((match) => match[1] ?? '');
      // The server runs without its name too.
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

describe('wrong usage', () => {
  const index = `0000001764000000000-ln_${'ab'.repeat(32)}`;
  const wrong: readonly [readonly string[], RegExp][] = [
    [['payemnts', '--json'], /^Unknown command 'payemnts': there are serve, dev, /],
    [
      ['clients'],
      /^'clients' needs one of its commands list, create, update, revoke, prune, confirm;/,
    ],
    [['clients', 'lst'], /^Unknown command 'lst' \(Did you mean list\?\);/],
    [['info', 'x'], /^Too many arguments for 'info': expected 0 arguments but got 1;/],
    [['info', '--zork'], /^Unknown option '--zork';/],
    [['invoice', '1,000'], /^Value '1,000' .*no separators/],
    [['invoice', '0'], /above zero/],
    [['invoice', '--expiry', 'soon'], /90s, 15m, 2h or 7d/],
    [['pay'], /^Missing required argument 'string';/],
    [['pay', 'x', '--amount', '-5'], /satoshis above zero/],
    [['pay', 'x', '--max-fee', '1%'], /must be satoshis/],
    [['payments', '--filter', 'some'], /allowed choices are all, pending/],
    [['payments', '--limit', 'many'], /must be a whole number/],
    [['payments', '--since', 'yesterday'], /must be a time such as/],
    [['payments', '--since', '2026-13-45'], /must be a time such as/],
    [['wait', 'zork'], /must be the index of a payment/],
    [['note', index], /^Give either the text of the note or --clear;/],
    [['note', index, 'x', '--clear'], /^Give either the text of the note or --clear;/],
    [['clients', 'create', '--label', 'x'], /give --scope/],
    [['clients', 'create', '--scope', 'fly'], /allowed are read_info, /],
    [['clients', 'create', '--scope', 'send', '--budget', '5/year'], /such as 10000\/day/],
    [['clients', 'create', '--scope', 'send', '--max-payment', '5'], /give --budget too/],
    [['clients', 'update', 'ab'.repeat(32)], /^Say what to change/],
    [['clients', 'update', 'x', '--clear-label'], /must be the 64 hex characters/],
    [['clients', 'update', 'ab'.repeat(32), '--label', 'x', '--clear-label'], /contradict/],
    [['webhooks', 'redeliver'], /^Give either the id of a delivery or --since;/],
    [['completions', 'tcsh'], /allowed choices are bash, zsh, fish/],
  ];
  for (const [args, message] of wrong) {
    test(`${args.join(' ')} ends with 2 and one sentence`, async () => {
      const { exitCode, stdout, stderr } = await runBinary(args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).toMatch(/^[A-Z'-][^\n]*; --help shows how it is written\.$/);
    });
  }
});

describe('completions', () => {
  const scriptOf = async (shell: string) => (await runBinary(['completions', shell])).stdout;

  for (const shell of ['bash', 'zsh', 'fish']) {
    test(`the script for ${shell} names every command and every flag`, async () => {
      const script = await scriptOf(shell);
      for (const { path, command } of commands) {
        expect(script).toMatch(new RegExp(`['"]${path.join(' ')}['"]`));
        for (const { long } of command.options) {
          const flag = shell === 'fish' ? `-l ${long?.slice(2)} ` : long;
          expect(script).toContain(flag ?? 'a long name');
        }
      }
    });

    // Not every machine has all three; the completion itself is tried in bash below.
    test.skipIf(!Bun.which(shell))(`${shell} finds no fault with the script`, async () => {
      const { exitCode, stderr } = await parsed(shell, await scriptOf(shell));
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    });
  }

  const completed: readonly [readonly string[], readonly string[]][] = [
    [['cl'], ['clients']],
    [['clients', 'cre'], ['create']],
    [
      ['payments', '--filter', ''],
      ['all', 'pending', 'completed', 'failed', 'finalized'],
    ],
    [['payments', '--no'], ['--no-sync']],
    [['completions', 'z'], ['zsh']],
    [
      ['serve', '--log-format', ''],
      ['text', 'json'],
    ],
    [['pay', '--amount', ''], []],
    [['webhooks', 'list', '--client-credentials-path', '/etc/host'], ['/etc/hosts']],
  ];
  for (const [words, expected] of completed) {
    test(`bash completes "${words.join(' ')}"`, async () => {
      const script = `${await scriptOf('bash')}
COMP_WORDS=(wallet-sidecar "$@"); COMP_CWORD=$#
_wallet_sidecar
printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = Bun.spawnSync(['bash', '-c', script, 'bash', ...words]);
      expect(stderr.toString()).toBe('');
      const offered = stdout.toString().trim().split('\n').filter(Boolean);
      expect(offered).toEqual(expect.arrayContaining([...expected]));
      if (!expected.includes('/etc/hosts')) expect(offered).toHaveLength(expected.length);
    });
  }

  test('--json holds the same script', async () => {
    const { stdout } = await runBinary(['completions', 'bash', '--json']);
    const { shell, script } = JSON.parse(stdout);
    expect({ shell, script: script.trimEnd() }).toEqual({
      shell: 'bash',
      script: await scriptOf('bash'),
    });
  });
});

/** Lets a shell parse a script without running it. */
async function parsed(shell: string, script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-completions-'));
  try {
    const file = join(folder, 'script');
    writeFileSync(file, script);
    const { exitCode, stderr } = Bun.spawnSync([shell, '-n', file]);
    return { exitCode, stderr: stderr.toString() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Flags in an example that its command does not have. */
function unknownFlags(example: string): string[] {
  const [line = ''] = example.split(/ [>&|]/);
  const words = line.split(' ').slice(1);
  const at = commands.findLast(({ path }) => path.every((word, depth) => words[depth] === word));
  const command = at?.command ?? program.commands.find((one) => one.name() === 'serve');
  const known = command?.options.flatMap(({ long, short }) => [long, short]) ?? [];
  return words.filter((word) => /^--?[a-z]/i.test(word) && !known.includes(word));
}
