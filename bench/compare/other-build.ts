import { copyFileSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BINARY, ROOT } from '../../tests/support/binary.ts';

/**
 * Builds another commit in a worktree of its own below `folder`, and returns the path of its binary. The packages are
 * those of this tree, so a commit with another package-lock.json is measured with these; the returned `note` says so.
 */
export async function buildCommit(
  revision: string,
  folder: string,
): Promise<{ commit: string; binary: string; note: string | null }> {
  const commit = (await run(ROOT, 'git', 'rev-parse', '--short', `${revision}^{commit}`)).trim();
  const tree = join(folder, 'tree');
  const binary = join(folder, `wallet-sidecar-${commit}`);
  await run(ROOT, 'git', 'worktree', 'add', '--detach', tree, commit);
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    await run(tree, process.execPath, 'run', 'build.ts');
    copyFileSync(join(tree, relative(ROOT, BINARY)), binary);
  } finally {
    await run(ROOT, 'git', 'worktree', 'remove', '--force', tree);
  }
  const locks = await run(ROOT, 'git', 'diff', '--name-only', commit, '--', 'package-lock.json');
  const note = locks === '' ? null : `${commit} was built with the packages of this tree.`;
  return { commit, binary, note };
}

async function run(cwd: string, ...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: 'pipe', stderr: 'pipe' });
  const [code, out, problem] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (code !== 0) throw new Error(`${command.join(' ')}: ${problem.trim()}`);
  return out;
}
