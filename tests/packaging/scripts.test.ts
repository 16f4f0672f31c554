import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('scripts');
afterAll(() => removeFolder(folder));

describe('every shell script', () => {
  const scripts = ['.ci', 'packaging', 'examples', 'tests']
    .flatMap((part) =>
      readdirSync(join(ROOT, part), { recursive: true }).map((name) => `${part}/${name}`),
    )
    .filter(isShell);

  test('can be read by its shell', async () => {
    expect(scripts).toContain('packaging/install.sh');
    expect(scripts).toContain('.ci/run');
    for (const file of [...scripts, await completionOf('bash')]) {
      expect([file, await run(['bash', '-n', file])]).toEqual([file, { exitCode: 0, output: '' }]);
    }
    const posix = Bun.which('dash') ?? 'sh';
    expect(await run([posix, '-n', 'packaging/install.sh'])).toEqual({ exitCode: 0, output: '' });
  });

  test.skipIf(isMissing('shellcheck'))('has nothing that shellcheck warns of', async () => {
    for (const file of scripts) {
      const shell = firstLine(file) === '#!/bin/sh' ? 'sh' : 'bash';
      const flags = ['-x', '-P', 'SCRIPTDIR', '-S', 'warning', '-s', shell];
      expect(await run(['shellcheck', ...flags, file])).toEqual({ exitCode: 0, output: '' });
    }
  });

  for (const [shell, flag] of [
    ['zsh', '-n'],
    ['fish', '--no-execute'],
  ] as const) {
    test.skipIf(isMissing(shell))(`for ${shell} can be read by it`, async () => {
      const script = await completionOf(shell);
      expect(await run([shell, flag, script])).toEqual({ exitCode: 0, output: '' });
    });
  }
});

/** Writes the completion script of a shell into a file; returns its path. */
async function completionOf(shell: string): Promise<string> {
  const path = join(folder, shell);
  const { stdout } = await runBinary(['completions', shell]);
  writeFileSync(path, stdout);
  return path;
}

function isShell(file: string): boolean {
  if (!statSync(join(ROOT, file)).isFile()) return false;
  return file.endsWith('.sh') || /^#!.*\b(?:ba)?sh\b/.test(firstLine(file));
}

function firstLine(file: string): string {
  return readFileSync(join(ROOT, file), 'latin1').split('\n', 1)[0] ?? '';
}
