import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { archivesOf, BINARIES } from '../../packaging/platforms.ts';
import { runBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, OWN_BINARY, ROOT, releaseFolder } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

let folder: string;
beforeAll(async () => {
  folder = await releaseFolder();
});
afterAll(() => removeFolder(folder));

describe('an archive', () => {
  const everywhere = [
    'LICENSE',
    'THIRD_PARTY_NOTICES.txt',
    'completions/wallet-sidecar.ps1',
    'man/wallet-sidecar.1',
  ];
  // Windows has none of these shells.
  const shells = [
    'completions/_wallet-sidecar',
    'completions/wallet-sidecar.bash',
    'completions/wallet-sidecar.fish',
  ];
  const units = ['wallet-sidecar-user.service', 'wallet-sidecar.service'];

  const all = Object.keys(BINARIES).flatMap((binary) =>
    archivesOf(binary).map((archive) => ({ binary, archive })),
  );
  for (const { binary, archive } of all) {
    const isZip = archive.endsWith('.zip');
    const without = isMissing(isZip ? 'unzip' : 'tar');
    test.skipIf(without)(
      `${archive} holds the program and what belongs to it, in one folder`,
      async () => {
        const program = isZip ? 'wallet-sidecar.exe' : 'wallet-sidecar';
        const into = temporaryFolder('unpacked');
        const unpack = isZip ? ['unzip', '-q'] : ['tar', '-xf'];
        const unpacked = await run([...unpack, join(folder, archive)], into);
        expect(unpacked).toEqual({ exitCode: 0, output: '' });
        const top = archive.replace(/\.(?:zip|tar\.[gx]z)$/, '');
        expect(readdirSync(into)).toEqual([top]);
        const files = readdirSync(join(into, top), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name).slice(into.length + top.length + 2));
        const expected = [
          ...[program, ...everywhere, ...(isZip ? [] : shells)],
          ...(archive.includes('linux') ? units : []),
        ];
        expect(files.toSorted()).toEqual(expected.toSorted());
        const bytes = readFileSync(join(into, top, program), 'latin1');
        expect(bytes).toContain(binary === OWN_BINARY ? 'exec' : `stands for ${binary}`);
        for (const file of files) {
          const { mode, mtime } = statSync(join(into, top, file));
          expect([file, (mode & 0o111) !== 0]).toEqual([file, file === program]);
          // A zip knows local time alone.
          if (!isZip) expect(mtime).toEqual(new Date('1980-01-01T00:00:00Z'));
        }
        removeFolder(into);
      },
    );
  }

  test.skipIf(isMissing('tar'))(
    'names no user, and has the completions of the program',
    async () => {
      const archive = join(folder, `${OWN_BINARY}.tar.gz`);
      const { output } = await run(['tar', '-tvzf', archive], ROOT, { ...process.env, TZ: 'UTC' });
      for (const line of output.trim().split('\n'))
        expect(line).toMatch(/ root\/root .* 1980-01-01 /);
      for (const [shell, file] of [
        ['bash', 'wallet-sidecar.bash'],
        ['zsh', '_wallet-sidecar'],
        ['fish', 'wallet-sidecar.fish'],
        ['powershell', 'wallet-sidecar.ps1'],
      ] as const) {
        const path = `${OWN_BINARY}/completions/${file}`;
        const packed = await run(['tar', '-xzOf', archive, path]);
        expect(packed.output.trim()).toBe((await runBinary(['completions', shell])).stdout.trim());
        expect(packed.output).toContain('payments');
      }
    },
  );
});
