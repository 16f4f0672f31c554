import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addCommands } from '../../src/cli/commands/index.ts';
import { buildProgram, runProgram, runsServer } from '../../src/cli/program.ts';
import { nearest, similar } from '../../src/cli/similar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const run = (...args: readonly string[]) => runBinary(args);

describe('usage', () => {
  test('--version and --help end with 0', async () => {
    expect(await run('--version')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^\d+\.\d+\.\d+ \(commit (?:[0-9a-f]{12}(?:-modified)?|unknown)\)$/,
      ),
    });
    const help = await run('serve', '--help');
    expect(help.exitCode).toBe(0);
    expect((await run('--help')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Run the server, as the program does without a command.',
    );
    for (const flag of ['--listen-addr', '--root-seed-path', '--webhook-url', 'SERVICE_MAX_FEE'])
      expect(help.stdout).toContain(flag);
  });

  const wrong: readonly string[][] = [
    ['fly'],
    ['serve', '--zork'],
    ['serve', '--listen-addr', 'x'],
    ['serve', '--root-seed', 'x'],
    ['serve', '--node-url', 'x'],
    ['proof', 'verify'],
  ];
  test('options before the command are told to stand after it', async () => {
    const { exitCode, stderr } = await run('--url', 'http://127.0.0.1:1', 'clients', 'list');
    expect(exitCode).toBe(2);
    // Nothing else is said: that serve has no such option, or no such word, is not what was meant.
    expect(stderr).toBe('Options stand after the command: "wallet-sidecar clients ... --url ...".');
    const known = await run('--data-dir', 'x', 'clients', 'list');
    expect(known.stderr).toMatch(/^Options stand after the command: .*--data-dir \.\.\."\.$/);
    for (const [group, name] of [
      ['clients', 'list'],
      ['webhooks endpoints', 'list'],
    ] as const) {
      expect(await run(...group.split(' '), '--json', name)).toMatchObject({
        exitCode: 2,
        stderr: `Options stand after the command: "wallet-sidecar ${group} ${name} ... --json ...".`,
      });
    }
    expect((await run('--zork')).stderr).not.toContain('after the command');
    expect((await run('--data-dir', 'dev', '--zork')).stderr).toMatch(/^Unknown option '--zork';/);
  });

  for (const args of wrong) {
    test(`${args.join(' ')} ends with 2 and one sentence, without a stack trace`, async () => {
      const { exitCode, stderr } = await run(...args);
      expect(exitCode).toBe(2);
      expect(stderr).not.toMatch(/\n\s+at /);
      expect(stderr.length).toBeGreaterThan(10);
    });
  }
});

describe('wrong usage', () => {
  const index = `0000001764000000000-ln_${'ab'.repeat(32)}`;
  const wrong: readonly [readonly string[], RegExp][] = [
    [['payemnts', '--json'], /^Unknown command 'payemnts' \(Did you mean payments\?\);/],
    [
      ['clients'],
      /^'clients' needs one of its commands list, show, create, update, revoke, prune, confirm;/,
    ],
    [['zork'], /^Unknown command 'zork': the nearest are [a-z -]+, [a-z -]+, [a-z -]+; --help/],
    [['constructor'], /^Unknown command 'constructor': the nearest are /],
    [
      ['help', 'zork'],
      /^Unknown command 'zork': the nearest are [a-z -]+, [a-z -]+, [a-z -]+; --help/,
    ],
    [['balance'], /^Unknown command 'balance' \(Did you mean info\?\);/],
    [['refund'], /^Unknown command 'refund' \(Did you mean pay --refund-of\?\);/],
    [['books'], /^Unknown command 'books' \(Did you mean export\?\);/],
    [['start'], /^Unknown command 'start' \(Did you mean serve or dev\?\);/],
    [['help', 'inof'], /^Unknown command 'inof' \(Did you mean info\?\);/],
    [['clients', 'lst'], /^Unknown command 'lst' \(Did you mean list\?\);/],
    [
      ['clients', 'zork'],
      /^Unknown command 'zork': the nearest are [a-z]+, [a-z]+, [a-z]+; --help/,
    ],
    [['seed', 'zork'], /^Unknown command 'zork' \(Did you mean new\?\);/],
    [['help', 'clients', 'lst'], /^Unknown command 'lst' \(Did you mean list\?\);/],
    [['info', 'x'], /^Too many arguments for 'info': expected 0 arguments but got 1;/],
    [['info', '--zork'], /^Unknown option '--zork';/],
    [['invoice', '1,000'], /^Value '1,000' .*no separators/],
    [['invoice', '0'], /above zero/],
    [['invoice', '--expiry', 'soon'], /90s, 15m, 2h or 7d/],
    [['pay'], /^Missing required argument 'string';/],
    [['pay', 'x', '--amount', '-5'], /in satoshis above zero/],
    [['pay', 'x', '--max-fee', '1%'], /must be an amount in satoshis/],
    [['payments', '--filter', 'some'], /allowed choices are all, pending/],
    [['payments', '--limit', 'many'], /must be a whole number from 1 to 1000/],
    [['payments', '--since', 'yesterday'], /must be a time such as/],
    [['payments', '--since', '2026-13-45'], /must be a time such as/],
    [['wait', 'zork'], /must be an id of a payment/],
    [['note', index], /^Give either the text of the note or --clear;/],
    [['note', index, 'x', '--clear'], /^Give either the text of the note or --clear;/],
    [['clients', 'create', '--label', 'x'], /give --scope/],
    [['clients', 'create', '--scope', 'fly'], /allowed values are read_info, /],
    [['clients', 'create', '--scope', 'send', '--budget', '5/year'], /such as 10000\/day/],
    [['clients', 'create', '--scope', 'send', '--max-payment', '5'], /give --budget too/],
    [['clients', 'update', 'ab'.repeat(32)], /^Say what to change/],
    [['clients', 'update', '', '--clear-label'], /must not be empty/],
    [
      ['clients', 'update', 'ab'.repeat(32), '--label', 'x', '--clear-label'],
      /set and cleared at once/,
    ],
    [['webhooks', 'redeliver'], /^Give either the id of a delivery or --since;/],
    [['channels', 'open', '5'], /must be whole satoshis, at least 1000/],
    [['channels', 'open', '100000.5'], /must be whole satoshis/],
    [['completions', 'tcsh'], /allowed choices are bash, zsh, fish/],
  ];
  for (const [args, message] of wrong) {
    test(`${args.join(' ')} ends with 2 and one sentence`, async () => {
      const { exitCode, stdout, stderr } = await runBinary(args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).toMatch(/^[A-Z'-][^\n]*; --help shows the usage\.$/);
    });
  }
});

describe('without a command', () => {
  /** Runs the program in this process, where the server is not started. */
  async function run(terminal: boolean, ...args: readonly string[]) {
    const said: string[] = [];
    const served: string[] = [];
    const io = {
      env: {},
      cwd: '/',
      stdout: () => true,
      stderr: (line: string) => void said.push(line),
      terminal: {
        columns: terminal ? 80 : null,
        canAsk: terminal,
        ask: async () => null,
        progress: () => undefined,
        onInterrupt: () => () => undefined,
      },
    };
    const serve = async (mode: string) => void served.push(mode);
    const program = buildProgram({ ...io, version: '0', serve });
    if (!runsServer(args)) {
      const said = async () => '';
      const files = {
        backup: said,
        restore: said,
        migrate: said,
        recoverLdk: async () => undefined,
      };
      await addCommands(program, args, { ...io, ...files, connectKinds: async () => ({}) });
    }
    const exitCode = await runProgram(program, ['bun', 'wallet-sidecar', ...args], io);
    const commands = program.commands.map((command) => command.name());
    return { exitCode, said, served, commands };
  }

  test('the server runs, and on a terminal without any setting one line names --help', async () => {
    expect(await run(true)).toMatchObject({
      exitCode: 0,
      said: [expect.stringContaining('"wallet-sidecar --help"')],
      served: ['serve'],
    });
    for (const ran of [await run(false), await run(true, '--listen-addr', '127.0.0.1:0')]) {
      expect(ran).toMatchObject({ exitCode: 0, said: [], served: ['serve'] });
    }
  });

  test('a server starts without the other commands, and rejects what is none of its options', async () => {
    for (const mode of ['serve', 'dev']) {
      const ran = await run(false, mode, '--listen-addr', '127.0.0.1:0');
      expect(ran).toEqual({ exitCode: 0, said: [], served: [mode], commands: ['serve', 'dev'] });
      for (const wrong of [['--nonsense'], ['info']]) {
        expect(await run(false, mode, ...wrong)).toMatchObject({ exitCode: 2, served: [] });
      }
    }
  });
});

describe('a word that was mistyped', () => {
  const meant: Readonly<Record<string, readonly string[]>> = {
    payemnts: ['payments'],
    chanels: ['channels'],
    'seed-new': ['seed new'],
    claim: [],
    pya: ['pay'],
    zork: [],
  };
  const names = ['pay', 'payments', 'channels', 'seed', 'seed new', 'completions', 'name show'];
  for (const [word, expected] of Object.entries(meant)) {
    test(`${word} may mean ${expected.join() || 'nothing'}`, () => {
      expect(similar(word, names)).toEqual([...expected]);
    });
  }
});

test('of a word that is like no command the three nearest are named', () => {
  expect(nearest('zork', ['payments', 'work', 'show', 'zoom', 'stork'])).toEqual([
    'work',
    'zoom',
    'stork',
  ]);
});

test('--env-file is read in place of the nearest .env', async () => {
  const folder = temporaryFolder('env-file');
  const [near, named] = [join(folder, '.env'), join(folder, 'other.env')];
  writeFileSync(near, 'SERVICE_SIDECAR_URL=http://127.0.0.1:1\n', { mode: 0o600 });
  writeFileSync(named, 'SERVICE_SIDECAR_URL=http://127.0.0.1:2\n', { mode: 0o600 });
  const said = async (...args: readonly string[]) =>
    (await runBinary(['info', ...args], { HOME: folder }, '', folder)).stderr;
  expect(await said()).toContain('http://127.0.0.1:1:');
  for (const path of [named, 'other.env']) {
    expect(await said('--env-file', path)).toContain('http://127.0.0.1:2:');
  }
  removeFolder(folder);
});
