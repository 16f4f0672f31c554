import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publicKeyText, readPublicKey, readSecretKey, type SigningKey } from './minisign.ts';

/** The file of the public key, in the repository. `tools/make-release-key.ts` writes it. */
export const PUBLIC_KEY = 'packaging/release-key.pub';

/** The variable that the secret key is read from. It is in the environment of the release workflow alone. */
export const SECRET_KEY = 'RELEASE_SIGNING_KEY';

/**
 * Returns the key that a release is signed with. Throws a sentence when the repository has no public key, the
 * environment has no secret key, or the two are not of one pair.
 */
export async function releaseKey(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SigningKey> {
  const file = await readFile(join(root, PUBLIC_KEY), 'utf8').catch(() => null);
  if (file === null)
    throw new Error(`${PUBLIC_KEY} is missing: make it with bun run tools/make-release-key.ts.`);
  const secret = env[SECRET_KEY];
  if (!secret) throw new Error(`${SECRET_KEY} is not set: a release needs the secret key.`);
  const key = readSecretKey(secret);
  if (publicKeyText(key.public) !== publicKeyText(readPublicKey(file)))
    throw new Error(`${SECRET_KEY} is not the secret key of ${PUBLIC_KEY}.`);
  return key;
}
