import { hex } from '@scure/base';
import { hashOf } from '../../lib/secrets/hash-of.ts';
import { ApiError } from '../../model/errors.ts';
import { type ClientOfDevice, isOfDevice } from '../../wallet/open/wallets.ts';
import { endedForRoom } from './room.ts';

/** How long a link is good for, in milliseconds. */
export const LINK_MS = 60_000;
/** The same of a link that signs a device in (docs/decisions.md 196). */
export const DEVICE_LINK_MS = 600_000;

const TOKEN_BYTES = 32;

interface LinkMaker {
  /** A text that is different for each caller of each wallet. */
  readonly caller: string;
  /** The credentials that the link stands for; null for the default wallet. */
  readonly credentials: string | null | ClientOfDevice;
}

/** Links by which a browser signs in without the credential passing through it (docs/decisions.md 132). */
export type OneTimeLinks = ReturnType<typeof oneTimeLinks>;

interface LinksOptions {
  /** Returns monotonic milliseconds. */
  readonly elapsedMs: () => number;
  readonly random: (bytes: number) => Uint8Array;
}

/** Creates an empty set of links, which is kept in memory alone. */
export function oneTimeLinks({ elapsedMs, random }: LinksOptions) {
  // The tokens' hashes are the keys, so that the time of a look-up says nothing about a token.
  const links = new Map<string, Link>();

  /** Returns a new token, 64 hex characters. A caller's eleventh open link ends its oldest. */
  function make(maker: LinkMaker): string {
    const nowMs = elapsedMs();
    for (const { hash, endsMs } of links.values()) if (endsMs <= nowMs) links.delete(hash);
    const ended = endedForRoom([...links.values()], maker.caller);
    if (ended) links.delete(ended.hash);
    const token = hex.encode(random(TOKEN_BYTES));
    const hash = hashOf(token);
    const goodMs = isOfDevice(maker.credentials) ? DEVICE_LINK_MS : LINK_MS;
    links.set(hash, { ...maker, hash, endsMs: nowMs + goodMs });
    return token;
  }

  /** Works as {@link take}, and leaves the token as it is. */
  function look(token: string): LinkMaker['credentials'] {
    const link = links.get(hashOf(token.toLowerCase()));
    if (link !== undefined && elapsedMs() < link.endsMs) return link.credentials;
    throw new ApiError(
      'unauthenticated',
      'This link was used before, or is too old: make another one with "wallet-sidecar console", or at the client. If you did not use it yourself, somebody else did: restart the sidecar, which ends all sessions but those of clients\' devices, and revoke the client.',
    );
  }

  /** Returns the credentials of a token and ends it. Throws error 104 for one that is unknown, used or too old. */
  function take(token: string): LinkMaker['credentials'] {
    const credentials = look(token);
    links.delete(hashOf(token.toLowerCase()));
    return credentials;
  }

  return { make, take, look };
}

interface Link extends LinkMaker {
  readonly hash: string;
  readonly endsMs: number;
}
