import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPublicKey, verified } from './minisign.ts';
import { CHECKSUMS, checksums, NOTES, SIGNATURE } from './release.ts';
import { PUBLIC_KEY } from './release-key.ts';

/** A release that is published, and where to. */
export interface Publication {
  /** The folder of the release. */
  readonly release: string;
  readonly files: readonly string[];
  readonly version: string;
  /** The address of the tap or image, for the places that have no fixed one. */
  readonly to: string;
  /** A folder that a copy of the tap is made in. It is not there before. */
  readonly work: string;
}

type Command = readonly string[];

/** The places that a release is published to, with the commands that do it. The tools there know who publishes. */
export const PLACES = {
  github: ({ release, files, version }: Publication): Command[] => [
    [
      ...['gh', 'release', 'create', `v${version}`, '--verify-tag', '--title', `v${version}`],
      ...['--notes-file', join(release, NOTES), ...(isEarly(version) ? ['--prerelease'] : [])],
      ...files.map((file) => join(release, file)),
    ],
  ],
  npm: ({ release, version }: Publication): Command[] => [
    [
      ...['npm', 'publish', join(release, `wallet-sidecar-${version}.tgz`), '--access', 'public'],
      ...['--tag', isEarly(version) ? 'next' : 'latest'],
    ],
  ],
  pypi: ({ release, files }: Publication): Command[] => [
    [
      ...['python3', '-m', 'twine', 'upload'],
      ...files.filter((file) => file.startsWith('wallet_sidecar-')).map((f) => join(release, f)),
    ],
  ],
  homebrew: ({ release, version, to, work }: Publication): Command[] => [
    ['git', 'clone', '--depth', '1', to, work],
    ['mkdir', '-p', join(work, 'Formula')],
    ['cp', join(release, 'wallet-sidecar.rb'), join(work, 'Formula')],
    ['git', '-C', work, 'add', 'Formula/wallet-sidecar.rb'],
    ['git', '-C', work, 'commit', '--message', `wallet-sidecar ${version}`],
    ['git', '-C', work, 'push'],
  ],
  container: ({ release, version, to }: Publication): Command[] => [
    [
      ...['docker', 'buildx', 'build', '--platform', 'linux/amd64,linux/arm64'],
      ...['--file', join(release, 'Containerfile'), '--tag', `${to}:${version}`],
      ...(isEarly(version) ? [] : ['--tag', `${to}:latest`]),
      ...['--push', release],
    ],
  ],
} as const;

/** The places whose address the maintainer names. */
export const ADDRESSED: ReadonlySet<string> = new Set<keyof typeof PLACES>([
  'homebrew',
  'container',
]);

/** Whether a version comes before a release of its number, so that nobody should get it unasked. */
function isEarly(version: string): boolean {
  return version.includes('-');
}

/**
 * Returns why a release must not be published, as a sentence, or null: it is not this version signed with the key of
 * the repository, or a file is another one than was signed.
 */
export async function problemOf(
  release: string,
  version: string,
  root: string,
): Promise<string | null> {
  const files: string[] = await readdir(release).catch(() => []);
  if (!files.includes(CHECKSUMS))
    return `${release} holds no release: make it with npm run build -- --sign.`;
  const key = await readFile(join(root, PUBLIC_KEY), 'utf8').catch(() => null);
  if (key === null || !files.includes(SIGNATURE)) return 'The release is not signed.';
  const sums = await readFile(join(release, CHECKSUMS));
  const comment = verified(
    sums,
    await readFile(join(release, SIGNATURE), 'utf8'),
    readPublicKey(key),
  );
  if (comment === null) return `The signature of ${CHECKSUMS} does not fit ${PUBLIC_KEY}.`;
  if (!comment.startsWith(`wallet-sidecar ${version} (`))
    return `The release is ${comment}, and the version here is ${version}.`;
  const listed = files.filter((file) => file !== CHECKSUMS && file !== SIGNATURE);
  return (await checksums(release, listed)) === sums.toString()
    ? null
    : `The files of ${release} are not those that ${CHECKSUMS} lists.`;
}
