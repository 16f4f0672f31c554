import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { NFPM } from '../../packaging/linux-packages.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, OWN_BINARY, ROOT, releaseFolder } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const { version } = packageJson;
const folder = temporaryFolder('packages');
const nfpm = await nfpmHere();
let release = '';
beforeAll(async () => {
  if (nfpm !== null) release = await releaseFolder({ nfpm });
});
afterAll(() => {
  removeFolder(folder);
  if (release) removeFolder(release);
});

/** Builds nfpm of what Go has on this machine already, without the network; null where that is not enough. */
async function nfpmHere(): Promise<string | null> {
  if (isMissing('go')) return null;
  const { output } = await run(['go', 'env', 'GOMODCACHE']);
  const GOPROXY = `file://${output.trim()}/cache/download`;
  const env = { ...process.env, GOPROXY, GOSUMDB: 'off', GOTOOLCHAIN: 'local', GOBIN: folder };
  const { exitCode } = await run(['go', 'install', NFPM], folder, env);
  if (exitCode === 0) return join(folder, 'nfpm');
  console.warn(`SKIPPED: .deb and .rpm are NOT made here: run "go install ${NFPM}" once.`);
  return null;
}

const deb = () => join(release, `wallet-sidecar_${version}_${debArch()}.deb`);
const debArch = () => (OWN_BINARY.endsWith('-x64') ? 'amd64' : 'arm64');
const rpmArch = () => (OWN_BINARY.endsWith('-x64') ? 'x86_64' : 'aarch64');

const shared = [
  'usr/bin/wallet-sidecar',
  'usr/lib/systemd/system/wallet-sidecar.service',
  'usr/lib/systemd/user/wallet-sidecar.service',
  'usr/share/bash-completion/completions/wallet-sidecar',
  'usr/share/doc/wallet-sidecar/LICENSE',
  'usr/share/doc/wallet-sidecar/THIRD_PARTY_NOTICES.txt',
  'usr/share/fish/vendor_completions.d/wallet-sidecar.fish',
  'usr/share/man/man1/wallet-sidecar.1',
];

describe.skipIf(nfpm === null)('the packages', () => {
  test('are made for both architectures, and stand in the signed list', () => {
    const names = readdirSync(release).filter((name) => /\.(?:deb|rpm)$/.test(name));
    expect(names.toSorted()).toEqual([
      `wallet-sidecar-${version}-1.aarch64.rpm`,
      `wallet-sidecar-${version}-1.x86_64.rpm`,
      `wallet-sidecar_${version}_amd64.deb`,
      `wallet-sidecar_${version}_arm64.deb`,
    ]);
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8');
    for (const name of names) expect(sums).toContain(`  ${name}\n`);
  });

  test('have the same bytes when they are made again', async () => {
    const other = await releaseFolder({ nfpm, time: new Date('2001-02-03T04:05:06Z') });
    const sums = (path: string) => readFileSync(join(path, 'SHA256SUMS'), 'utf8');
    expect(sums(other)).toBe(sums(release));
    removeFolder(other);
  });

  describe.skipIf(process.platform !== 'linux' || isMissing('dpkg'))('a .deb', () => {
    const root = join(folder, 'root');
    const settings = join(root, 'etc', 'wallet-sidecar');
    const kept = [
      join(settings, 'client-credentials'),
      join(root, 'var', 'lib', 'wallet-sidecar', 'sidecar.sqlite'),
    ];
    const dpkg = (...args: string[]) =>
      run([
        ...['dpkg', `--root=${root}`, '--force-script-chrootless', '--force-not-root'],
        ...['--force-bad-path', '--log=/dev/null', ...args],
      ]);
    const files = () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .filter((path) => !path.startsWith('var/lib/dpkg/'))
        .toSorted();

    test('installs what install.sh installs below /usr, asks nothing, and gives root alone the settings', async () => {
      mkdirSync(join(root, 'var', 'lib', 'dpkg', 'updates'), { recursive: true });
      mkdirSync(join(root, 'var', 'lib', 'dpkg', 'info'));
      writeFileSync(join(root, 'var', 'lib', 'dpkg', 'status'), '');
      const installed = await dpkg('--install', deb());
      expect([installed.exitCode, installed.output]).toEqual([0, expect.any(String)]);
      const zsh = 'usr/share/zsh/vendor-completions/_wallet-sidecar';
      expect(files()).toEqual([...shared, zsh].toSorted());
      expect(statSync(settings).mode & 0o777).toBe(0o700);
      const program = join(root, 'usr', 'bin', 'wallet-sidecar');
      expect((await run([program, '--version'])).output).toStartWith(`${version} (commit `);
      const unit = (whose: string) =>
        readFileSync(join(root, `usr/lib/systemd/${whose}/wallet-sidecar.service`), 'utf8');
      for (const whose of ['system', 'user'])
        expect(unit(whose)).toContain('\nExecStart=/usr/bin/wallet-sidecar serve ');
      expect(unit('system')).toContain('\nDynamicUser=yes\n');
      expect((await dpkg('--status', 'wallet-sidecar')).output).toContain(`Version: ${version}\n`);
    });

    test('leaves data and settings when it is removed, and when it is purged', async () => {
      mkdirSync(join(root, 'var', 'lib', 'wallet-sidecar'));
      for (const path of kept) writeFileSync(path, 'money');
      expect((await dpkg('--remove', 'wallet-sidecar')).exitCode).toBe(0);
      expect((await dpkg('--purge', 'wallet-sidecar')).exitCode).toBe(0);
      expect(files()).toEqual(kept.map((path) => path.slice(root.length + 1)));
      expect(existsSync(settings)).toBe(true);
    });
  });

  test.skipIf(isMissing('rpm'))('an .rpm holds the same, as rpm reads it', async () => {
    const file = join(release, `wallet-sidecar-${version}-1.${rpmArch()}.rpm`);
    const query = (...args: string[]) => run(['rpm', '--query', '--package', ...args, file]);
    const { output } = await query('--list');
    const zsh = '/usr/share/zsh/site-functions/_wallet-sidecar';
    const listed = [...shared.map((path) => `/${path}`), zsh, '/etc/wallet-sidecar'];
    expect(output.trim().split('\n').toSorted()).toEqual(listed.toSorted());
    const name = await query('--queryformat', '%{NAME} %{VERSION} %{LICENSE} %{BUILDHOST}');
    expect(name.output).toBe(`wallet-sidecar ${version} MIT localhost`);
  });

  test.skipIf(isMissing('rpm') || process.getuid?.() !== 0)(
    'an .rpm is installed by rpm, and leaves data and settings when it is removed',
    async () => {
      const root = join(folder, 'rpm-root');
      mkdirSync(root);
      const rpm = (...args: string[]) => run(['rpm', '--root', root, '--noscripts', ...args]);
      const file = join(release, `wallet-sidecar-${version}-1.${rpmArch()}.rpm`);
      expect((await rpm('--install', '--nodeps', file)).exitCode).toBe(0);
      const program = join(root, 'usr', 'bin', 'wallet-sidecar');
      expect((await run([program, '--version'])).output).toStartWith(`${version} (commit `);
      const credentials = join(root, 'etc', 'wallet-sidecar', 'client-credentials');
      expect(statSync(join(credentials, '..')).mode & 0o777).toBe(0o700);
      writeFileSync(credentials, 'money');
      expect((await rpm('--erase', 'wallet-sidecar')).exitCode).toBe(0);
      expect([existsSync(program), existsSync(credentials)]).toEqual([false, true]);
    },
  );
});

describe('the scripts of the packages', () => {
  const calls = join(folder, 'calls');
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  const standIn = `#!/bin/sh\necho "$*" >> '${calls}'\n`;
  writeFileSync(join(programs, 'systemctl'), standIn, { mode: 0o755 });

  /** Runs a script as dpkg or rpm does; returns its output and what it asked of systemd. */
  async function ran(name: string, args: readonly string[], env = {}): Promise<[string, string]> {
    writeFileSync(calls, '');
    const PATH = `${programs}:${process.env.PATH}`;
    const command = ['sh', join(ROOT, 'packaging', 'linux', name), ...args];
    const { exitCode, output } = await run(command, folder, { ...process.env, PATH, ...env });
    expect(exitCode).toBe(0);
    return [output, readFileSync(calls, 'utf8')];
  }

  test('start and enable nothing, and say that a running service has to be restarted', async () => {
    for (const args of [['configure', ''], ['configure', version], ['1'], ['2']])
      expect(await ran('after-install.sh', args)).toEqual([
        'The service still runs the version of before: systemctl restart wallet-sidecar\n',
        'daemon-reload\nis-active --quiet wallet-sidecar\n',
      ]);
  });

  test('stop the service before it is removed, and never in an upgrade', async () => {
    const stopped = ['', 'disable --now wallet-sidecar\n'] as const;
    for (const args of [['remove'], ['0']])
      expect(await ran('before-remove.sh', args)).toEqual([...stopped]);
    for (const args of [['upgrade', version], ['1'], ['failed-upgrade', version], []])
      expect(await ran('before-remove.sh', args)).toEqual(['', '']);
  });

  test('leave the system alone that makes an image of another', async () => {
    for (const name of ['after-install.sh', 'before-remove.sh'])
      expect(await ran(name, ['remove'], { DPKG_ROOT: folder })).toEqual(['', '']);
  });
});
