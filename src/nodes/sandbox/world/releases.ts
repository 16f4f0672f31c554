import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { ed25519 } from '../../../lib/secrets/ed25519.ts';
import { refused } from '../../../model/errors.ts';
import { change } from './rows.ts';
import type { World } from './world.ts';

interface Release {
  readonly version: string;
  /** Hex SHA-256 of the build. */
  readonly measurement: string;
}

/** A signed list of releases: the exact text, and the publisher's ed25519 signature over it in hex. */
interface SignedReleases {
  readonly text: string;
  readonly signature: string;
}

/**
 * The sandbox's own publishing key. It is no secret, because the sandbox publishes its own list; it shows the check
 * that a real publisher's list would need.
 */
const SANDBOX_PUBLISHER = sha256(utf8ToBytes('wallet-sidecar sandbox release publisher'));

/** Signs a list of releases as the sandbox's publisher. */
export function publishReleases(releases: readonly Release[]): SignedReleases {
  const text = JSON.stringify(releases);
  return { text, signature: hex.encode(ed25519.sign(utf8ToBytes(text), SANDBOX_PUBLISHER)) };
}

/** Returns the releases of a list that the trusted publisher signed. Throws `refused` for any other list. */
export function trustedReleases(list: SignedReleases): Release[] {
  if (!isSigned(list)) {
    throw refused(
      'The list of trusted releases is not signed by its publisher: nothing was provisioned.',
    );
  }
  return JSON.parse(list.text) as Release[];
}

/** Provisions the wallet to the trusted releases of a signed list. Throws `refused` for any other list. */
export function provision(world: World, userPk: string, list: SignedReleases): void {
  const releases = trustedReleases(list);
  world.transact(() => {
    const sql =
      'INSERT INTO provisioned (user_pk, measurement) VALUES (?, ?) ON CONFLICT DO NOTHING';
    for (const { measurement } of releases) change(world, sql, userPk, measurement);
  });
}

function isSigned({ text, signature }: SignedReleases): boolean {
  try {
    return ed25519.verify(
      hex.decode(signature),
      utf8ToBytes(text),
      ed25519.publicKeyOf(SANDBOX_PUBLISHER),
    );
  } catch {
    return false;
  }
}
