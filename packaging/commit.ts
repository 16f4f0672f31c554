import { $ } from 'bun';

/** What stands in the place of a commit where none is known. */
export const UNKNOWN_COMMIT = 'unknown';

/**
 * Returns the first 12 digits of the commit that is checked out in a folder, with `-modified` when anything in the
 * folder differs from it. Returns {@link UNKNOWN_COMMIT} where the folder is not the top of a clone (an unpacked source
 * archive inside another project's clone is none), or where git is missing.
 */
export async function commitOf(folder: string): Promise<string> {
  const prefix = await git(folder, 'rev-parse', '--show-prefix');
  const head = await git(folder, 'rev-parse', '--verify', 'HEAD');
  const changes = await git(folder, 'status', '--porcelain');
  if (prefix !== '' || head === null || changes === null) return UNKNOWN_COMMIT;
  return `${head.slice(0, 12)}${changes === '' ? '' : '-modified'}`;
}

/** Returns what git says, or null where it fails. */
async function git(folder: string, ...args: readonly string[]): Promise<string | null> {
  const { exitCode, stdout } = await $`git -C ${folder} ${args}`.quiet().nothrow();
  return exitCode === 0 ? stdout.toString().trim() : null;
}
