import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type ConformanceWorld, openConformanceWorld } from '../../conformance/world.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const run = (...args: readonly string[]) => runBinary(args);

describe('proof', () => {
  test('a proof of a sandbox payment made over HTTP verifies in a second, unrelated process', async () => {
    const { offer } = await world.post('/v2/node/create_offer', { description: 'Book' });
    const { index } = await world.post(
      '/v2/node/pay_offer',
      { offer, amount: '42', message: 'thanks' },
      world.bob,
    );
    const made = await run(
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
    const shown = await run('proof', 'verify', made.stdout);
    expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
    for (const words of ['42', 'Book', 'thanks', 'for \\u{1b}[31m you'])
      expect(shown.stdout).toContain(words);
    const json = JSON.parse((await run('proof', 'verify', made.stdout, '--json')).stdout);
    expect(json.disclosed_types).toContain(164);
    expect(json).toMatchObject({ valid: true, invoice_amount: '42' });
    const broken = await run('proof', 'verify', made.stdout.replace(/.{6}$/, 'qqqqqq'));
    expect(broken).toMatchObject({ exitCode: 1, stdout: '' });
    expect(broken.stderr.length).toBeGreaterThan(10);
  });

  test('an error of the sidecar, or no sidecar at all, ends with 1 and one sentence', async () => {
    const index = `0000000000000000001-fs_${'0'.repeat(64)}`;
    expect(await run('proof', 'create', index, '--url', world.baseUrl)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/not found.*error 107/),
    });
    expect(await run('proof', 'create', index, '--url', 'http://127.0.0.1:1')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/No sidecar answers/),
    });
  });
});
