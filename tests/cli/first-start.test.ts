import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The home of somebody who has just unpacked the program. */
let home = '';
let sidecar: SidecarProcess | null = null;
beforeEach(() => {
  home = temporaryFolder('first-start');
});
afterEach(async () => {
  await sidecar?.stop();
  sidecar = null;
  removeFolder(home);
});

type Env = Readonly<Record<string, string>>;

const env = (more: Env): Env => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  XDG_DATA_HOME: join(home, 'share'),
  SERVICE_SANDBOX_BLOCK_SECS: '0',
  ...more,
});

function write(name: string, text: string): string {
  writeFileSync(join(home, name), text, { mode: 0o600 });
  return join(home, name);
}

/** The ways in which the root seed reaches the program. */
const SEEDS: Readonly<Record<string, (seed: string) => { flags?: string[]; env?: Env }>> = {
  'by path': (seed) => ({ flags: ['--root-seed-path', write('seed', seed)] }),
  'by the environment': (seed) => ({ env: { SERVICE_ROOT_SEED: seed } }),
  'by a path in a .env': (seed) => {
    write('.env', `SERVICE_ROOT_SEED_PATH=${write('seed', seed)}\n`);
    return {};
  },
};

describe('from a new seed to a payment every command works, or names the one that comes before', () => {
  for (const [how, seedBy] of Object.entries(SEEDS)) {
    for (const auth of [[], ['--require-auth']]) {
      test([`root seed ${how}`, ...auth].join(' '), async () => {
        const { stdout: seed } = await runBinary(['seed', 'new']);
        const { flags = [], env: given = {} } = seedBy(seed);
        // At another port than the default one, which the commands find by the data directory.
        sidecar = startBinary(['serve', '--listen-addr', '127.0.0.1:0', ...flags, ...auth], {
          env: env(given),
          cwd: home,
        });
        await sidecar.ready();
        // What to do about an open port is read by who knows that it runs.
        expect(sidecar.log()).not.toMatch(/Every program and user.*is ready/s);
        const run = (...words: string[]) => runBinary(words, env(given), '', home);
        const works = async (...words: string[]) => {
          const ran = await run(...words);
          expect({ words, exitCode: ran.exitCode, stderr: ran.stderr }).toMatchObject({
            exitCode: 0,
          });
          return ran.stdout;
        };
        expect(await run('health')).toMatchObject({
          exitCode: 1,
          stdout:
            'The wallet of the root seed is not signed up yet: run "wallet-sidecar signup", once.',
        });
        expect(await run('info')).toMatchObject({
          exitCode: 1,
          stderr:
            'This wallet is not signed up yet: run "wallet-sidecar signup" first (error 106).',
        });
        await works('signup');
        expect(await works('health')).toBe('ok');
        await works('provision');
        expect(await works('info')).toMatch(/^Balance +0 sats$/m);
        expect(await works('invoice', '1000')).toStartWith('lnbcrt');
        await works('sandbox', 'fund', '100000');
        const [bill = ''] = (await works('sandbox', 'invoice', '500')).split('\n');
        expect(await works('pay', bill, '--yes')).toMatch(/^Status +completed$/m);
        expect(await works('clients', 'create', '--scope', 'receive')).toMatch(/^\S+$/);
      });
    }
  }
});

describe('advice leads on', () => {
  test('a sidecar without a wallet: the setting is named, and no other data directory', async () => {
    sidecar = startBinary(['serve', '--listen-addr', '127.0.0.1:0'], { env: env({}), cwd: home });
    await sidecar.ready();
    for (const command of ['signup', 'provision', 'info']) {
      const { exitCode, stderr } = await runBinary([command], env({}), '', home);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/start it with --root-seed-path|start the sidecar with --root-seed/);
      expect(stderr).not.toContain('Give --client-credentials-path');
    }
  });

  for (const auth of [[], ['--require-auth']]) {
    const how = auth.length === 0 ? '' : ' with --require-auth';
    test(`signup with the credentials of a client${how}: the command line's words are named`, async () => {
      sidecar = startBinary(['dev', '--listen-addr', '127.0.0.1:0', ...auth], { env: env({}) });
      await sidecar.ready();
      const { stdout } = await runBinary(['clients', 'create', '--scope', 'full'], env({}));
      const given = env({ SERVICE_CLIENT_CREDENTIALS_PATH: write('credentials', stdout) });
      expect((await runBinary(['signup'], given)).stderr).toBe(
        "This needs the root seed of the sidecar and its owner's cookie: call without client credentials (error 104).",
      );
    });
  }
});
