import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BARE_ENV, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { type CliWorld, openCliWorld, runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const CREATE = ['clients', 'create', '--scope', 'read_info,send'];
const BUDGET = ['--budget', '1000/day'];
const SAME_USER = /^The budgets of clients hold only against programs that run as another user/m;
const OPEN = /^The budgets of clients protect nothing while every program that reaches this port/m;

const worlds: CliWorld[] = [];
afterAll(async () => {
  for (const world of worlds) await world.close();
});
async function open(...flags: string[]): Promise<CliWorld> {
  const world = await openCliWorld(flags);
  worlds.push(world);
  return world;
}

test('a budget is given with the words that it does not bound programs of the same user', async () => {
  const { run } = await open('--require-auth');
  expect((await run(...CREATE)).stderr).not.toMatch(SAME_USER);
  for (const limit of [
    ['--approve-above', '500'],
    ['--origin', 'https://api.example'],
  ]) {
    const limited = await run(...CREATE, ...limit);
    expect(limited.stderr).toMatch(/^These limits hold .*--require-auth.*another user of the/m);
    const [pk = ''] = /[0-9a-f]{64}/.exec(limited.stderr) ?? [];
    expect((await run('clients', 'update', pk, ...limit)).stderr).toMatch(/^These limits hold/);
  }
  const asJson = await run('health', '--json');
  expect(asJson.stderr).toBe('');
  expect(Object.keys(JSON.parse(asJson.stdout))).toEqual(['status', 'commit']);
  const created = await run(...CREATE, ...BUDGET);
  expect(created.stderr).toMatch(SAME_USER);
  expect(created.stdout).toMatch(/^\S+$/);
  // The status is for machines, and nothing is missing.
  const health = await run('health');
  expect(health).toMatchObject({ exitCode: 0, stdout: 'ok' });
  expect(health.stderr).toMatch(SAME_USER);
  expect(JSON.parse((await run('health', '--json')).stdout)).toEqual({
    status: 'ok',
    commit: expect.any(String),
    budgets: health.stderr,
  });
  const [pk = ''] = /[0-9a-f]{64}/.exec(created.stderr) ?? [];
  expect((await run('clients', 'update', pk, ...BUDGET)).stderr).toMatch(SAME_USER);
  expect((await run('clients', 'update', pk, '--label', 'x')).stderr).toBe('');
  await run('clients', 'revoke', pk);
  expect((await run('health')).stderr).toBe('');
});

test('where the port is open to all a budget is given with the words that it protects nothing', async () => {
  const { run } = await open();
  expect((await run(...CREATE, ...BUDGET)).stderr).toMatch(OPEN);
  const health = await run('health');
  expect(health.stdout).toMatch(OPEN);
  expect(health.stderr).toBe('Something is missing, as the status says.');
});

describe('as a user of a service', () => {
  // Only root can become another user.
  test.skipIf(process.getuid?.() !== 0)(
    'nothing is said, since no other program is one',
    async () => {
      const folder = temporaryFolder('service-user');
      const dataDir = join(folder, 'data');
      mkdirSync(dataDir, { mode: 0o700 });
      for (const path of [folder, dataDir]) chownSync(path, 65_532, 65_532);
      const sidecar = startBinary(
        ['dev', '--require-auth', '--data-dir', dataDir, '--listen-addr', '127.0.0.1:0'],
        {
          env: BARE_ENV,
          before: ['setpriv', '--reuid', '65532', '--regid', '65532', '--clear-groups'],
        },
      );
      try {
        await sidecar.ready();
        const env = { SERVICE_DATA_DIR: dataDir };
        const created = await runBinary([...CREATE, ...BUDGET], env);
        expect(created.exitCode).toBe(0);
        expect(created.stderr).toMatch(/^Keep it secret: [^\n]*$/);
        expect(await runBinary(['health'], env)).toEqual({ exitCode: 0, stdout: 'ok', stderr: '' });
      } finally {
        await sidecar.stop();
        removeFolder(folder);
      }
    },
  );
});
