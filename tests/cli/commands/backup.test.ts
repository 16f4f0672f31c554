import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { BARE_ENV, runBinary, type SidecarProcess, startBinary } from '../../support/binary.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { sendOk } from '../../support/requests.ts';
import { rounds } from '../../support/rounds.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { RELEASES, releases, restoreData } from '../../upgrade/release-data.ts';

setDefaultTimeout(SLOW_TEST_MS);

const STORE = 'sidecar.sqlite';
const FILES = ['dev-root-seed', 'sandbox.sqlite', STORE];
/** Rounds of kills; the points are spread over the time that the command takes. */
const KILLS = rounds(4, 12);
/** Whether there is another round: the last ones are for a machine on which no kill has come in the middle yet. */
const goesOn = (round: number, cut: number) => round < KILLS || (cut === 0 && round < 100);

let folder: string;
beforeAll(() => {
  folder = temporaryFolder('backup');
});
afterAll(() => removeFolder(folder));

const at = (...names: string[]) => join(folder, ...names);
const start = (dataDir: string) =>
  startBinary(['dev', '--data-dir', dataDir, '--listen-addr', '127.0.0.1:0']);
const backup = (dataDir: string, to: string) => runBinary(['backup', to, '--data-dir', dataDir]);
const restore = (from: string, dataDir: string) =>
  runBinary(['restore', from, '--data-dir', dataDir]);
const listed = (path: string) => readdirSync(path).toSorted();
/** The databases and the seed that a directory has. */
const filesOf = (path: string) =>
  existsSync(path) ? listed(path).filter((it) => FILES.includes(it)) : [];

/** Starts a sidecar on a data directory, and stops it after `use`. */
async function withSidecar<T>(dataDir: string, use: (url: string) => Promise<T>): Promise<T> {
  const child = start(dataDir);
  const url = await child.ready();
  try {
    return await use(url);
  } finally {
    await child.stop();
  }
}

const payments = async (url: string) => {
  await sendOk(url, 'PUT', '/v2/node/sync_payments');
  const { payments } = await sendOk(url, 'GET', '/v2/node/list_payments?filter=all');
  return payments.map(({ index }: { index: string }) => index);
};
const health = async (url: string) => (await sendOk(url, 'GET', '/v2/health')).status as string;
const BOT = { scopes: ['send'], budget: { amount: '100', period: 'day' } };

describe('backup and restore (docs/decisions.md 182)', () => {
  test('a copy of a running sidecar is whole, private, and the wallet goes on from it', async () => {
    const [data, copy, back] = [at('a'), at('a-copy'), at('a-back')];
    const before = await withSidecar(data, async (url) => {
      await sendOk(url, 'POST', '/v2/node/create_invoice', { body: { amount: '5' } });
      const there = await payments(url);
      const made = await backup(data, copy);
      expect(made).toMatchObject({ exitCode: 0, stderr: '' });
      for (const word of ['root seed', 'secrets key', `${data}.marker`]) {
        expect(made.stdout).toContain(word);
      }
      return there;
    });
    expect(listed(copy)).toEqual(['backup.json', ...FILES]);
    expect(statSync(copy).mode & 0o777).toBe(0o700);
    for (const name of listed(copy)) expect(statSync(join(copy, name)).mode & 0o777).toBe(0o600);

    expect(await restore(copy, back)).toMatchObject({
      exitCode: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /^\S+ holds the backup of 2.*marker file .* is missing.*clients confirm/,
      ),
    });
    for (const name of filesOf(back)) expect(statSync(join(back, name)).mode & 0o777).toBe(0o600);
    await withSidecar(back, async (url) => {
      expect(await payments(url)).toEqual(before);
      expect(await health(url)).toContain('marker file');
    });
  });

  test('what it says of a copy beside its marker is what the sidecar then says', async () => {
    const [data, copy] = [at('b'), at('b-copy')];
    await withSidecar(data, (url) => sendOk(url, 'POST', '/v2/node/create_client', { body: BOT }));
    expect((await backup(data, copy)).exitCode).toBe(0);
    const empty = () => {
      rmSync(data, { recursive: true });
      return restore(copy, data);
    };
    // Nothing has happened since.
    const same = (await empty()).stdout;
    expect(same).toContain('budgets hold');
    expect(same).not.toContain('revoke');
    expect(same).toContain('The sandbox is as it was at the copy');
    expect(same).not.toContain('read from the node');
    await withSidecar(data, async (url) =>
      expect(await health(url)).not.toMatch(/restored|marker|older copy/),
    );
    // That start was counted, so the copy is older now.
    const { stdout } = await empty();
    expect(stdout).toContain('clients with a budget cannot spend');
    expect(stdout).toContain('revoke or narrow those again that were since');
    const [, said = ''] = /health says: (.*?confirm"\.)/.exec(stdout) ?? [];
    expect(said).toContain('restored from an older copy');
    await withSidecar(data, async (url) => expect(await health(url)).toContain(said));
  });

  test('nothing is overwritten, neither by a backup nor by a restore', async () => {
    const [data, copy] = [at('c'), at('c-copy')];
    await withSidecar(data, async () => {
      expect((await backup(data, copy)).exitCode).toBe(0);
      expect(await backup(data, copy)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('is there already'),
      });
      expect(await restore(copy, data)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('is in use by'),
      });
    });
    for (const kept of [...FILES, `${STORE}.moved`]) {
      const other = at(`c-${kept}`);
      mkdirSync(other);
      writeFileSync(join(other, kept), 'mine');
      expect(await restore(copy, other)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('nothing is overwritten'),
      });
      expect(readFileSync(join(other, kept), 'utf8')).toBe('mine');
      expect(filesOf(other)).toEqual(FILES.filter((name) => name === kept));
    }
  });

  test('a copy that is not whole, was changed, or is of a later version is not put anywhere', async () => {
    const [data, copy] = [at('d'), at('d-copy')];
    await withSidecar(data, async () => undefined);
    expect((await backup(data, copy)).exitCode).toBe(0);
    const wrong: Readonly<Record<string, readonly [(path: string) => void, RegExp]>> = {
      'no list': [(path) => rmSync(join(path, 'backup.json')), /backup\.json is missing/],
      'a list that is none': [
        (path) => writeFileSync(join(path, 'backup.json'), '{"files":{}}'),
        /backup\.json is missing or cannot be read/,
      ],
      'a file less': [(path) => rmSync(join(path, 'sandbox.sqlite')), /sandbox\.sqlite is missing/],
      'a byte more': [
        (path) => appendFileSync(join(path, STORE), 'x'),
        /sidecar\.sqlite is not as it was copied/,
      ],
      'a later schema': [
        (path) => {
          const db = new Database(join(path, STORE));
          db.run('PRAGMA user_version = 999');
          db.close();
          const list = JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8'));
          const bytes = readFileSync(join(path, STORE));
          const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
          list.files[STORE] = { bytes: bytes.length, sha256 };
          writeFileSync(join(path, 'backup.json'), JSON.stringify(list));
        },
        /newer version of wallet-sidecar \(schema 999/,
      ],
    };
    for (const [what, [change, message]] of Object.entries(wrong)) {
      const [changed, target] = [at(`d-${what}`), at(`d-${what}-target`)];
      cpSync(copy, changed, { recursive: true });
      change(changed);
      const ran = await restore(changed, target);
      expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(message) });
      expect(existsSync(target)).toBe(false);
    }
  });

  // Only root can give files to another user.
  test.skipIf(process.getuid?.() !== 0)(
    "what root restores belongs to the directory's user",
    async () => {
      const data = at('of-another');
      mkdirSync(data);
      chownSync(data, 65_534, 65_534);
      expect((await restore(at('d-copy'), data)).exitCode).toBe(0);
      for (const name of listed(data)) expect(statSync(join(data, name)).uid).toBe(65_534);
    },
  );

  for (const release of releases()) {
    test(`what ${release} left can be copied, and goes on from the copy`, async () => {
      const [data, copy, back] = [`v${release}`, `v${release}-copy`, `v${release}-back`].map(
        (name) => at(name),
      ) as [string, string, string];
      await restoreData(join(RELEASES, release), data);
      expect((await backup(data, copy)).exitCode).toBe(0);
      const put = await restore(copy, back);
      // Stores of 0.1 had no identity, and no budgets of which it tells.
      const said = release === '0.1.0' ? 'holds the backup' : 'health says';
      expect(put).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(said) });
      const there = await withSidecar(data, payments);
      expect(await withSidecar(back, payments)).toEqual(there);
    });
  }

  test('of a copy whose rows are signed both name the key without which it is of no use', async () => {
    const [data, copy, back] = [at('s'), at('s-copy'), at('s-back')];
    const env = { ...BARE_ENV, SERVICE_SECRETS_KEY: '5a'.repeat(32) };
    const flags = ['--listen-addr', '127.0.0.1:0'];
    const child = startBinary(['dev', '--data-dir', data, ...flags], { env });
    await child.ready();
    await child.stop();
    const [, key = 'none'] =
      /secrets key (\w+), without/.exec((await backup(data, copy)).stdout) ?? [];
    expect((await restore(copy, back)).stdout).toContain(`Start it with the secrets key ${key}.`);
    const without = startBinary(['dev', '--data-dir', back, ...flags]);
    expect(await without.exit()).not.toBe(0);
    expect(without.log()).toContain(`signed with the secrets key ${key}`);
  });

  test('with PostgreSQL both say which tool to use, and never the password', async () => {
    const env = { ...BARE_ENV, SERVICE_DATABASE_URL: 'postgres://me:hush@127.0.0.1/x' };
    const made = await runBinary(['backup', at('pg')], { env });
    expect(made.exitCode).toBe(2);
    expect(made.stderr).toContain('pg_dump');
    expect(made.stderr).not.toContain('hush');
    expect(made.stderr).toContain('SERVICE_DATABASE_URL in it is the URL of the database');
    expect((await runBinary(['restore', at('pg')], { env })).stderr).toContain('pg_restore');
    writeFileSync(at('url'), 'postgres://me:hush@127.0.0.1/x', { mode: 0o600 });
    const named = await runBinary(['backup', at('pg'), '--database-url-path', at('url')]);
    expect(named.exitCode).toBe(2);
    expect(named.stderr).toContain(
      `pg_dump --format=custom --schema=wallet_sidecar --file=${at('pg')} "$(cat ${at('url')})"`,
    );
    const given = ['--database-url', 'postgres://me:hush@127.0.0.1/x'];
    const told = (await runBinary(['backup', at('pg'), ...given])).stderr;
    expect(told).toContain('"$SERVICE_DATABASE_URL"');
    expect(told).not.toContain('hush');
    expect(existsSync(at('pg'))).toBe(false);
  });
});

describe('killed at any point', () => {
  test('a backup is whole or has not its name, and the next one is made', async () => {
    const data = at('k');
    await withSidecar(data, async (url) => {
      enlarge(join(data, STORE));
      const begun = performance.now();
      expect((await backup(data, at('k-whole'))).exitCode).toBe(0);
      const tookMs = performance.now() - begun;
      let cut = 0;
      for (let round = 0; goesOn(round, cut); round++) {
        const copy = at(`k-${round}`);
        const child = startBinary(['backup', copy, '--data-dir', data]);
        const hasBegun = () => listed(folder).some((name) => name.startsWith(`k-${round}.part-`));
        await killTime({ round, child, hasBegun, tookMs });
        await child.kill();
        if (existsSync(copy)) expect((await restore(copy, at(`k-${round}-back`))).exitCode).toBe(0);
        const parts = listed(folder).filter((name) => name.startsWith(`k-${round}.part-`));
        cut += parts.length;
        for (const part of parts) {
          expect(statSync(at(part)).mode & 0o777).toBe(0o700);
          if (existsSync(at(part, 'backup.json'))) continue;
          expect((await restore(at(part), at(`${part}-back`))).exitCode).toBe(2);
        }
        for (const name of [...parts, `k-${round}`, `k-${round}-back`]) {
          rmSync(at(name), { recursive: true, force: true });
        }
      }
      expect(cut).toBeGreaterThan(0);
      expect((await backup(data, at('k-again'))).exitCode).toBe(0);
      expect(await health(url)).toBe('ok');
    });
  });

  test('a restore is run again, and the sidecar does not start before', async () => {
    const copy = at('k-whole');
    const begun = performance.now();
    expect((await restore(copy, at('r-whole'))).exitCode).toBe(0);
    const tookMs = performance.now() - begun;
    let cut = 0;
    for (let round = 0; goesOn(round, cut); round++) {
      const data = at(`r-${round}`);
      const child = startBinary(['restore', copy, '--data-dir', data]);
      const hasBegun = () => existsSync(join(data, `${STORE}.restoring`));
      await killTime({ round, child, hasBegun, tookMs });
      await child.kill();
      const isHalf = existsSync(join(data, `${STORE}.restoring`));
      if (isHalf) cut += 1;
      // Without the sign there is all of it, or nothing.
      else expect([[], FILES]).toContainEqual(filesOf(data));
      if (isHalf && cut === 1) await expectNoStart(data);
      if (filesOf(data).length === FILES.length && !isHalf) continue;
      expect((await restore(copy, data)).exitCode).toBe(0);
      expect(filesOf(data)).toEqual(FILES);
      for (const name of FILES)
        expect(readFileSync(join(data, name))).toEqual(readFileSync(join(copy, name)));
      rmSync(data, { recursive: true });
    }
    expect(cut).toBeGreaterThan(0);
  });

  test('between its two last steps neither the node nor the store begins anew', async () => {
    const [copy, data] = [at('k-whole'), at('last-step')];
    mkdirSync(data, { mode: 0o700 });
    for (const name of FILES) {
      copyFileSync(join(copy, name), join(data, name === STORE ? `${STORE}.restoring` : name));
    }
    await expectNoStart(data);
    expect(existsSync(join(data, STORE))).toBe(false);
    expect((await restore(copy, data)).exitCode).toBe(0);
    expect(filesOf(data)).toEqual(FILES);
  });
});

async function expectNoStart(dataDir: string): Promise<void> {
  const child = start(dataDir);
  try {
    expect(await child.exit()).not.toBe(0);
    expect(child.log()).toContain('A restore into');
  } finally {
    if (child.running()) await child.kill();
  }
}

/**
 * Waits until it is time for the kill of a round: the first one, and those beyond {@link KILLS}, when the command is
 * seen to have begun, the others after their share of the time that it takes.
 */
async function killTime(of: {
  readonly round: number;
  readonly child: SidecarProcess;
  readonly hasBegun: () => boolean;
  readonly tookMs: number;
}): Promise<void> {
  const isWatched = of.round === 0 || of.round >= KILLS;
  await (isWatched
    ? once(of.child, of.hasBegun)
    : Bun.sleep((of.tookMs * (of.round + 0.5)) / KILLS));
}

/** Waits until a condition holds, so that one kill comes in the middle on a machine of any speed. */
async function once(child: SidecarProcess, holds: () => boolean): Promise<void> {
  while (child.running() && !holds()) await Bun.sleep(1);
}

/** Makes the file so large that copying it takes a while. */
function enlarge(path: string): void {
  const db = new Database(path);
  db.run('PRAGMA busy_timeout = 5000');
  db.run('CREATE TABLE ballast (it BLOB)');
  for (let mebibyte = 0; mebibyte < 48; mebibyte++) {
    db.run('INSERT INTO ballast VALUES (randomblob(1048576))');
  }
  db.close();
}

test('a link in the data directory is not followed, also by the superuser', async () => {
  const dataDir = at('linked');
  await withSidecar(dataDir, async () => undefined);
  const secret = at('secret of another');
  writeFileSync(secret, 'SECRET');
  rmSync(join(dataDir, 'dev-root-seed'));
  symlinkSync(secret, join(dataDir, 'dev-root-seed'));
  const copied = await backup(dataDir, at('copy of links'));
  expect(copied).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('symbolic link') });
  expect(existsSync(at('copy of links'))).toBeFalse();
  rmSync(join(dataDir, 'dev-root-seed'));
  expect((await backup(dataDir, at('copy'))).exitCode).toBe(0);

  const planted = at('planted');
  mkdirSync(planted, { mode: 0o700 });
  symlinkSync(at('not there'), join(planted, 'lock.sqlite'));
  const restored = await restore(at('copy'), planted);
  expect(restored).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('symbolic link') });
  expect(existsSync(at('not there'))).toBeFalse();
});
