import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { signed, signingKeyFrom } from '../../packaging/minisign.ts';
import { tarGz } from '../../packaging/tar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, OWN_BINARY, releaseFolder, TEST_COMMIT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The archive that the script takes on this machine. */
const ARCHIVE = `${OWN_BINARY}.tar.${Bun.which('xz') ? 'xz' : 'gz'}`;
const key = signingKeyFrom(new Uint8Array(40).fill(9));
const stranger = signingKeyFrom(new Uint8Array(40).fill(8));
const SIGNED = `wallet-sidecar ${packageJson.version} (commit ${TEST_COMMIT})`;
const INSTALLED = new RegExp(
  `^installed \\S+/bin/wallet-sidecar ${packageJson.version} \\(commit \\S+\\)$`,
  'm',
);

const folder = temporaryFolder('install');
const prefix = join(folder, 'prefix');
const installed = join(prefix, 'bin', 'wallet-sidecar');
/** What the server answers instead of a file; null means that the file is missing. */
const instead = new Map<string, string | Uint8Array | null>();
let release: string;
let server: ReturnType<typeof serveRelease>;
let base: string;

beforeAll(async () => {
  release = await releaseFolder({ key });
  server = serveRelease();
  base = `http://127.0.0.1:${server.port}`;
});
beforeEach(() => {
  instead.clear();
  removeFolder(prefix);
});
afterAll(async () => {
  await server.stop(true);
  removeFolder(release);
  removeFolder(folder);
});

function serveRelease() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const name = new URL(request.url).pathname.slice(1);
      const other = instead.get(name);
      if (other === null) return new Response('no', { status: 404 });
      return new Response(other ?? Bun.file(join(release, name)));
    },
  });
}

const script = () => join(release, 'install.sh');
const install = (...args: string[]) => run(['sh', script(), '--prefix', prefix, ...args]);

/** A search path without the programs that check signatures, but with stand-ins by name. */
function pathWith(standIns: Readonly<Record<string, string>>): string {
  const own = mkdtempSync(join(folder, 'path-'));
  for (const name of ['minisign', 'openssl'])
    writeFileSync(join(own, name), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
  for (const [name, text] of Object.entries(standIns))
    writeFileSync(join(own, name), text, { mode: 0o755 });
  return `${own}:${process.env.PATH}`;
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .toSorted();
}

/** SHA256SUMS with the checksum of another archive, and its signature. */
function publish(archive: Uint8Array, by = key, name = ARCHIVE): void {
  const sum = new Bun.CryptoHasher('sha256').update(archive).digest('hex');
  const list = `${sum}  ${name}\n`;
  instead.set(name, archive).set('SHA256SUMS', list);
  instead.set('SHA256SUMS.minisig', signed(Buffer.from(list), 'other', by));
}

/** An archive whose program is this text. */
function archiveWith(program: string): Uint8Array {
  const path = `${OWN_BINARY}/wallet-sidecar`;
  return tarGz([{ path, bytes: Buffer.from(program), isExecutable: true }]);
}

const withoutOpenssl = isMissing('openssl');

describe.skipIf(withoutOpenssl)('what fits signature and checksum is installed', () => {
  const everything = [
    'bin/wallet-sidecar',
    ...(process.platform === 'linux' ? ['lib/systemd/system/wallet-sidecar.service'] : []),
    'share/bash-completion/completions/wallet-sidecar',
    'share/doc/wallet-sidecar/LICENSE',
    'share/doc/wallet-sidecar/THIRD_PARTY_NOTICES.txt',
    'share/fish/vendor_completions.d/wallet-sidecar.fish',
    'share/man/man1/wallet-sidecar.1',
    'share/zsh/site-functions/_wallet-sidecar',
  ];
  const asRoot = () => ({ ...process.env, PATH: pathWithId(0) });

  function expectInstalled({ exitCode, output }: { exitCode: number; output: string }): void {
    expect([exitCode, output]).toEqual([0, expect.stringMatching(INSTALLED)]);
    expect(output).toContain(`signed: ${SIGNED}\n`);
    expect(existsSync(installed)).toBe(true);
  }

  test('from the folder that the script lies in, with everything that belongs to it', async () => {
    expectInstalled(await run(['sh', script(), '--prefix', prefix], folder, asRoot()));
    expect(filesBelow(prefix)).toEqual(everything);
  });

  test('from another folder', async () => {
    expectInstalled(await install('--from', release));
  });

  test.skipIf(isMissing('curl'))('from a server', async () => {
    expectInstalled(await install('--from', `${base}/`));
  });

  test.skipIf(isMissing('curl'))('by a script that comes from the server too', async () => {
    const line = `curl -fsS ${base}/install.sh | sh -s -- --from ${base} --prefix ${prefix}`;
    expectInstalled(await run(['sh', '-c', line]));
  });

  test.skipIf(isMissing('curl') || isMissing('xz'))(
    'from the smaller archive where this machine reads it, and the release has it',
    async () => {
      instead.set(`${OWN_BINARY}.tar.gz`, null);
      expectInstalled(await install('--from', base));
      instead.clear();
      const gz = `${OWN_BINARY}.tar.gz`;
      publish(readFileSync(join(release, gz)), key, gz);
      instead.set(ARCHIVE, null);
      expect((await install('--from', base)).exitCode).toBe(0);
    },
  );

  test('in the place of an older one', async () => {
    await Bun.write(installed, 'old');
    expectInstalled(await install());
    expect(readdirSync(join(prefix, 'bin'))).toEqual(['wallet-sidecar']);
  });

  const standIn = (version: string) =>
    writeFileSync(installed, `#!/bin/sh\necho '${version} (commit abc)'\n`, { mode: 0o755 });

  test('but not in the place of a newer one, unless that is asked for', async () => {
    const [major = 0, minor = 0, patch = 0] = packageJson.version.split(/[.-]/).map(Number);
    mkdirSync(join(prefix, 'bin'), { recursive: true });
    for (const newer of [
      `${major}.${minor}.${patch + 1}`,
      `${major}.${minor + 10}.0-beta.1`,
      `${major + 9}.0.0`,
    ]) {
      standIn(newer);
      const { exitCode, output } = await install();
      expect([newer, exitCode]).toEqual([newer, 1]);
      expect(output).toContain(
        `This release is ${packageJson.version}, and ${newer} is installed: nothing was changed.`,
      );
      expect(readFileSync(installed, 'utf8')).toContain(newer);
      expect(readdirSync(join(prefix, 'bin'))).toEqual(['wallet-sidecar']);
    }
    expectInstalled(await install('--allow-older'));
    for (const earlier of [
      packageJson.version,
      `${packageJson.version}+build.9`,
      `${packageJson.version}-beta.11`,
      '0.0.99',
    ]) {
      standIn(earlier);
      expectInstalled(await install());
    }
  });

  test('below the home of who is not root, with a unit of that user', async () => {
    const home = join(folder, 'home');
    const env = { ...process.env, PATH: pathWithId(1000), HOME: home };
    const { exitCode, output } = await run(['sh', script()], folder, env);
    expect([exitCode, output]).toEqual([0, expect.stringMatching(INSTALLED)]);
    expect(output).toContain(`${home}/.local/bin is not in PATH`);
    expect(existsSync(join(home, '.local', 'bin', 'wallet-sidecar'))).toBe(true);
    if (process.platform === 'linux') {
      const unit = join(home, '.local', 'share', 'systemd', 'user', 'wallet-sidecar.service');
      expect(readFileSync(unit, 'utf8')).toContain(
        `\nExecStart=${home}/.local/bin/wallet-sidecar serve `,
      );
    }
    const removed = await run(['sh', script(), '--uninstall'], folder, env);
    expect(removed.exitCode).toBe(0);
    expect(filesBelow(home)).toEqual([]);
  });

  test('and is removed again, without what others put beside it', async () => {
    await run(['sh', script(), '--prefix', prefix], folder, asRoot());
    writeFileSync(join(prefix, 'bin', 'other'), 'other');
    const remove = () => run(['sh', script(), '--uninstall', '--prefix', prefix], folder, asRoot());
    expect(await remove()).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(/^removed .* data and settings are left as they are\n$/),
    });
    expect(filesBelow(prefix)).toEqual(['bin/other']);
    expect(await remove()).toEqual({
      exitCode: 1,
      output: `${installed} is not there: name the folder that it was installed into with --prefix.\n`,
    });
  });

  test('tells systemd of a new unit, and who upgrades that the service has to be restarted', async () => {
    const calls = join(folder, 'systemctl.calls');
    const asked = (exitCode: number) => {
      const text = `#!/bin/sh\necho "$*" >> '${calls}'\ncase "$1" in is-active) exit ${exitCode} ;; esac\n`;
      return { ...process.env, PATH: pathWithId(0, { systemctl: text }) };
    };
    const installAs = (env: typeof process.env) =>
      run(['sh', script(), '--prefix', prefix], folder, env);
    if (process.platform !== 'linux') return;
    const running = await installAs(asked(0));
    expect(running.output).toContain(
      '\nThe service still runs the version of before: systemctl restart wallet-sidecar\n',
    );
    expect(readFileSync(calls, 'utf8')).toBe('daemon-reload\nis-active --quiet wallet-sidecar\n');
    const stopped = await installAs(asked(3));
    expect(stopped).toMatchObject({ exitCode: 0, output: expect.not.stringContaining('restart') });
  });

  test('is not removed while its service runs', async () => {
    const env = { ...process.env, PATH: pathWithId(0, { systemctl: '#!/bin/sh\nexit 0\n' }) };
    await run(['sh', script(), '--prefix', prefix], folder, env);
    const { exitCode, output } = await run(
      ['sh', script(), '--uninstall', '--prefix', prefix],
      folder,
      env,
    );
    if (process.platform !== 'linux') return;
    expect([exitCode, output]).toEqual([
      1,
      'The service is running. Stop it first: systemctl disable --now wallet-sidecar\n',
    ]);
    expect(existsSync(installed)).toBe(true);
  });
});

/** A search path on which `id -u` says this number, with further stand-ins. */
function pathWithId(id: number, standIns: Readonly<Record<string, string>> = {}): string {
  const own = mkdtempSync(join(folder, 'path-'));
  const all = { id: `#!/bin/sh\necho ${id}\n`, ...standIns };
  for (const [name, text] of Object.entries(all))
    writeFileSync(join(own, name), text, { mode: 0o755 });
  return `${own}:${process.env.PATH}`;
}

describe.skipIf(isMissing('curl') || withoutOpenssl)(
  'nothing is installed, and an older program stays',
  () => {
    const refusals: readonly (readonly [string, () => void, RegExp])[] = [
      [
        'when the archive is another one',
        () => instead.set(ARCHIVE, archiveWith('other')),
        /does not match SHA256SUMS: do not use it/,
      ],
      [
        'when the list of checksums is another one',
        () => instead.set('SHA256SUMS', `${'0'.repeat(64)}  ${ARCHIVE}\n`),
        /signature of SHA256SUMS does not fit: do not use this release/,
      ],
      [
        'when another key signed it',
        () => publish(archiveWith('#!/bin/sh\necho 1\n'), stranger),
        /signature of SHA256SUMS does not fit/,
      ],
      [
        'when what it says of the version is another than was signed',
        () => {
          const own = readFileSync(join(release, 'SHA256SUMS.minisig'), 'utf8');
          instead.set('SHA256SUMS.minisig', own.replace(packageJson.version, '9.9.9'));
        },
        /signature of SHA256SUMS does not fit/,
      ],
      [
        'when there is no signature',
        () => instead.set('SHA256SUMS.minisig', null),
        /SHA256SUMS.minisig cannot be read/,
      ],
      [
        'when there is no list of checksums',
        () => instead.set('SHA256SUMS', null),
        /SHA256SUMS cannot be read: check the address/,
      ],
      [
        'when the list does not name the archive',
        () => {
          const list = `${'0'.repeat(64)}  ${ARCHIVE}.old\n`;
          instead.set('SHA256SUMS', list);
          instead.set('SHA256SUMS.minisig', signed(Buffer.from(list), 'x', key));
        },
        /does not match SHA256SUMS/,
      ],
      [
        'when there is no archive',
        () => instead.set(ARCHIVE, null),
        /cannot be read: check the address/,
      ],
      [
        'when the archive cannot be unpacked, whatever its signature',
        () => publish(Buffer.from('no archive')),
        /cannot be unpacked/,
      ],
      [
        'when the program does not start here, whatever its signature',
        () => publish(archiveWith('#!/bin/sh\nexit 1\n')),
        /does not start on this machine/,
      ],
    ];
    for (const [rule, arrange, sentence] of refusals) {
      test(rule, async () => {
        arrange();
        const fresh = await install('--from', base);
        expect([fresh.exitCode, fresh.output]).toEqual([1, expect.stringMatching(sentence)]);
        expect(existsSync(installed)).toBe(false);
        await Bun.write(installed, 'old');
        expect((await install('--from', base)).exitCode).toBe(1);
        expect(filesBelow(prefix)).toEqual(['bin/wallet-sidecar']);
        expect(readFileSync(installed, 'utf8')).toBe('old');
      });
    }

    test('when the release is not fetched over https', async () => {
      const { exitCode, output } = await install('--from', 'http://releases.example');
      expect([exitCode, output]).toEqual([
        1,
        'http://releases.example is not https: download the release over https.\n',
      ]);
      expect(existsSync(prefix)).toBe(false);
    });

    test('when its URL only looks as if it named this machine or https', async () => {
      const calls = join(folder, 'curl.calls');
      const text = `#!/bin/sh\necho "$*" >> '${calls}'\nexit 1\n`;
      const env = { ...process.env, PATH: `${pathWith({ curl: text })}` };
      const from = (url: string) =>
        run(['sh', script(), '--prefix', prefix, '--from', url], folder, env);
      for (const url of [
        'http://127.0.0.1:80@evil.example',
        'http://localhost:80@evil.example/x',
        'http://localhost@evil.example',
        'http://127.0.0.1.evil.example',
        'http://localhost.evil.example:80',
        'http://[::1]@evil.example',
        'http://[::1].evil.example',
        'http://localhost:80\\@evil.example',
        'https://good.example@evil.example',
        'https://good.example\\@evil.example',
        'ftp://releases.example',
        'http://localhost:x',
      ]) {
        const { exitCode, output } = await from(url);
        expect([url, exitCode]).toEqual([url, 1]);
        expect(output).toContain(' is not https: download the release over https.');
        expect(existsSync(calls)).toBe(false);
      }
      for (const url of [
        'http://[::1]:80/x',
        'http://localhost/x',
        'https://releases.example:8443/v1?a=@b',
        'https://[2001:db8::1]/x',
      ]) {
        expect((await from(url)).output).toContain('cannot be read: check the address');
      }
    });

    test('when the script is run away from a release', async () => {
      const alone = join(folder, 'install.sh');
      writeFileSync(alone, readFileSync(script()));
      const { exitCode, output } = await run(['sh', alone, '--prefix', prefix]);
      expect(exitCode).toBe(1);
      expect(output).toMatch(/SHA256SUMS cannot be read: name the folder or URL/);
      expect(existsSync(prefix)).toBe(false);
    });
  },
);

describe('a signature', () => {
  const from = (path: string, ...args: string[]) =>
    run(['sh', script(), '--prefix', prefix, ...args], folder, { ...process.env, PATH: path });

  test('that no program here can check is told, and nothing is installed', async () => {
    const { exitCode, output } = await from(pathWithout());
    expect([exitCode, output]).toEqual([
      1,
      expect.stringMatching(/neither minisign nor OpenSSL 3 is installed.*--checksums-only\.\n$/),
    ]);
    expect(existsSync(prefix)).toBe(false);
  });

  test('is not asked for with --checksums-only, which says what that means', async () => {
    const { exitCode, output } = await from(pathWithout(), '--checksums-only');
    expect([exitCode, output]).toEqual([0, expect.stringMatching(INSTALLED)]);
    expect(output).toContain('The signature was not checked: the checksums prove only');
  });

  test.skipIf(isMissing('minisign'))('is checked by minisign where that is installed', async () => {
    const minisign = `#!/bin/sh\nexec ${Bun.which('minisign')} "$@"\n`;
    const good = await from(pathWith({ minisign }));
    expect([good.exitCode, good.output]).toEqual([0, expect.stringMatching(INSTALLED)]);
    expect(good.output).toContain(`signed: ${SIGNED}`);
  });

  test('that minisign does not find good stops the installation', async () => {
    const { exitCode, output } = await from(pathWith({ minisign: '#!/bin/sh\nexit 1\n' }));
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/signature .* does not fit/)]);
    expect(existsSync(prefix)).toBe(false);
  });

  test('is not there in a release that somebody built alone, which the script says', async () => {
    const unsigned = await releaseFolder();
    const { exitCode, output } = await run([
      'sh',
      join(unsigned, 'install.sh'),
      '--prefix',
      prefix,
    ]);
    expect([exitCode, output]).toEqual([0, expect.stringMatching(INSTALLED)]);
    expect(output).toContain('This release is not signed: use it only if you built it yourself.');
    removeFolder(unsigned);
  });

  /** A search path with what the script needs, and without a program for signatures. */
  function pathWithout(): string {
    const own = mkdtempSync(join(folder, 'path-'));
    for (const name of NEEDED) {
      const found = Bun.which(name);
      if (found === null) continue;
      writeFileSync(join(own, name), `#!/bin/sh\nexec ${found} "$@"\n`);
      chmodSync(join(own, name), 0o755);
    }
    return own;
  }
});

/** The programs that the script runs. */
const NEEDED = [
  ...[
    'sh',
    'awk',
    'cat',
    'cp',
    'dirname',
    'grep',
    'gzip',
    'id',
    'install',
    'mkdir',
    'mktemp',
    'mv',
  ],
  ...['rm', 'sed', 'sha256sum', 'shasum', 'tar', 'tr', 'uname'],
];

describe('the script', () => {
  test('says what it takes with --help, and with what it does not know', async () => {
    const help = await install('--help');
    expect(help.exitCode).toBe(0);
    for (const option of ['--from', '--prefix', '--checksums-only', '--uninstall'])
      expect(help.output).toContain(`  ${option}`);
    const wrong = await install('--zork');
    expect([wrong.exitCode, wrong.output]).toEqual([
      2,
      `--zork is not known here.\n${help.output}`,
    ]);
    expect(await run(['sh', script(), '--prefix'])).toMatchObject({ exitCode: 2 });
  });

  test('changes nothing below a folder that cannot be written to', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { exitCode, output } = await run(['sh', script(), '--prefix', file]);
    expect([exitCode, output]).toEqual([
      1,
      expect.stringMatching(/cannot be created: name another/),
    ]);
  });

  test('of the repository is a pattern, and says so', async () => {
    const pattern = join(import.meta.dir, '..', '..', 'packaging', 'install.sh');
    const { exitCode, output } = await run(['sh', pattern, '--prefix', prefix]);
    expect([exitCode, output]).toEqual([
      1,
      'This is the pattern of the script: use install.sh of a release.\n',
    ]);
  });
});
