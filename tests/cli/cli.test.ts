import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { parseRootSeed } from '../../src/model/root-seed.ts';
import { type ConformanceWorld, openConformanceWorld } from '../conformance/world.ts';

const BINARY = join(import.meta.dir, '..', '..', 'dist', 'wallet-sidecar');
let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

function run(...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([BINARY, ...args], { cwd: '/', env: {} });
  return { exitCode, stdout: stdout.toString().trim(), stderr: stderr.toString().trim() };
}

describe('usage', () => {
  test('--version and --help end with 0', () => {
    expect(run('--version')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    const help = run('serve', '--help');
    expect(help.exitCode).toBe(0);
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
  for (const args of wrong) {
    test(`${args.join(' ')} ends with 2 and one sentence, without a stack trace`, () => {
      const { exitCode, stderr } = run(...args);
      expect(exitCode).toBe(2);
      expect(stderr).not.toMatch(/\n\s+at /);
      expect(stderr.length).toBeGreaterThan(10);
    });
  }
});

describe('seed new', () => {
  test('prints 24 words, or both forms as JSON, another each time', () => {
    const first = run('seed', 'new').stdout;
    expect(first.split(' ')).toHaveLength(24);
    expect(run('seed', 'new').stdout).not.toBe(first);
    const json = JSON.parse(run('seed', 'new', '--json').stdout);
    expect(parseRootSeed(json.phrase)).toEqual(parseRootSeed(json.root_seed));
  });
});

describe('proof', () => {
  test('a proof of a sandbox payment made over HTTP verifies in a second, unrelated process', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { description: 'Book' });
    const { index } = await world.post(
      '/v2/node/pay_offer',
      { offer, amount: '42', message: 'thanks' },
      world.bob,
    );
    const made = run(
      'proof',
      'create',
      index,
      '--note',
      'for \u001b[31m you',
      '--url',
      world.baseUrl,
      '--client-credentials',
      world.bob,
    );
    expect(made.exitCode).toBe(0);
    expect(made.stdout).toMatch(/^lnp1/);
    const shown = run('proof', 'verify', made.stdout);
    expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
    for (const words of ['42', 'Book', 'thanks', 'for \\u{1b}[31m you'])
      expect(shown.stdout).toContain(words);
    const json = JSON.parse(run('proof', 'verify', made.stdout, '--json').stdout);
    expect(json.disclosed_types).toContain(164);
    expect(json).toMatchObject({ valid: true, invoice_amount: '42' });
    const broken = run('proof', 'verify', made.stdout.replace(/.{6}$/, 'qqqqqq'));
    expect(broken).toMatchObject({ exitCode: 1, stdout: '' });
    expect(broken.stderr.length).toBeGreaterThan(10);
  });

  test('a refusal of the sidecar, or no sidecar at all, ends with 1 and its sentence', () => {
    const index = `0000000000000000001-fs_${'0'.repeat(64)}`;
    expect(run('proof', 'create', index, '--url', world.baseUrl)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/not found.*error 107/),
    });
    expect(run('proof', 'create', index, '--url', 'http://127.0.0.1:1')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/No sidecar answers/),
    });
  });
});
