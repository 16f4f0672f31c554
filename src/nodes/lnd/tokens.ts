import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { isApiError, refused } from '../../model/errors.ts';
import type { NodeTokens } from '../node.ts';
import { operationsFor } from './grants.ts';
import { restrictMacaroon, timeBefore } from './macaroon.ts';
import type { LndRest } from './rest.ts';
import { anyShape, bakedMacaroonShape, rootKeyIdsShape } from './wire.ts';

/** Random bits of a root key id; the mark stands above them, and together they stay below 2^53. */
const RANDOM_BITS = 29n;
const MARK_BYTES = 3;

/** Root key ids of one installation: LND keeps no names with them, so that the id itself says whose it is. */
export class RootKeyIds {
  readonly #mark: bigint;

  /** `mark` is the installation's id. */
  constructor(mark: string) {
    const digest = sha256(utf8ToBytes(`wallet-sidecar root key${mark}`));
    this.#mark = digest
      .subarray(0, MARK_BYTES)
      .reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  }

  /** An id from 4 random bytes; never 0, which is LND's own and cannot be deleted. */
  draw(random: Uint8Array): string {
    const bits = BigInt(new DataView(random.buffer, random.byteOffset).getUint32(0));
    return `${(this.#mark << RANDOM_BITS) | (bits & ((1n << RANDOM_BITS) - 1n)) || 1n}`;
  }

  /** Whether this installation drew the id. */
  owns(id: string): boolean {
    return /^\d{1,16}$/.test(id) && BigInt(id) >> RANDOM_BITS === this.#mark;
  }
}

/**
 * Macaroons for clients, each with a root key of its own, so that deleting it ends that client and no other. They are
 * baked, listed and ended with the owner's macaroon: a client's own never allows to make one.
 */
export function lndTokens(
  owner: () => LndRest,
  ids: RootKeyIds,
  random: (bytes: number) => Uint8Array,
): NodeTokens {
  return {
    newId: () => ids.draw(random(4)),
    obstacle: () => null,
    async issue({ id, permissions, expiresAtMs }) {
      const { macaroon } = await owner()
        .post(
          '/v1/macaroon',
          { permissions: operationsFor(permissions), root_key_id: id },
          bakedMacaroonShape,
          { harmlessTwice: true },
        )
        .catch((error: unknown) => {
          throw mayNot('make macaroons for clients (macaroon:generate)', error);
        });
      return expiresAtMs === null ? macaroon : restrictMacaroon(macaroon, timeBefore(expiresAtMs));
    },
    async revoke(id) {
      // LND answers alike where there is no such id.
      await owner()
        .delete(`/v1/macaroon/${id}`, anyShape)
        .catch((error: unknown) => {
          throw mayNot("end clients' macaroons (macaroon:write)", error);
        });
    },
    async list() {
      const { root_key_ids } = await owner()
        .get('/v1/macaroon/ids', rootKeyIdsShape)
        .catch((error: unknown) => {
          throw mayNot("list clients' macaroons (macaroon:read)", error);
        });
      return root_key_ids.filter((id) => ids.owns(id));
    },
  };
}

function mayNot(what: string, error: unknown): unknown {
  if (!isApiError(error, 'forbidden')) return error;
  return refused(
    `The configured macaroon may not ${what}: run \`connect lnd\` with one that may.`,
    error,
  );
}
