import { run } from './run.ts';

/** Who commits and when, so that the same files make the same commit, whatever the machine's configuration. */
const IDENTITY = {
  GIT_AUTHOR_NAME: 'test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

/** Makes a folder the top of an empty clone. */
export async function initialized(folder: string): Promise<void> {
  await git(folder, 'init', '--quiet');
}

/** Commits everything in a clone's folder; resolves to the commit. */
export async function commitAll(folder: string): Promise<string> {
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '--quiet', '--message', 'test');
  return git(folder, 'rev-parse', 'HEAD');
}

async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const { exitCode, output } = await run(['git', ...args], folder, { ...process.env, ...IDENTITY });
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')} failed: ${output}`);
  return output.trim();
}
