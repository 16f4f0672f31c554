import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { NodeTokens } from '../../node.ts';
import { withRight } from '../../remote/place/lacking-right.ts';
import { operationsFor } from '../reads/grants.ts';
import { LND_PROTOCOL } from '../reads/protocol.ts';
import type { LndRest } from '../reads/rest.ts';
import { restrictMacaroon, timeBefore } from '../words/macaroon.ts';
import { anyShape, bakedMacaroonShape, rootKeyIdsShape } from '../words/wire.ts';

/** The number of random bits of a root key id. The mark is above them, and both together stay below 2^53. */
const RANDOM_BITS = 29n;
const MARK_BYTES = 3;

/** Root key ids that carry a mark of this installation, because LND keeps no names with them. */
export class RootKeyIds {
  readonly #mark: bigint;

  /** `mark` is the id of the installation. */
  constructor(mark: string) {
    const digest = sha256(utf8ToBytes(`wallet-sidecar root key${mark}`));
    this.#mark = digest
      .subarray(0, MARK_BYTES)
      .reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  }

  /** A new id from 4 random bytes; never 0, which LND itself uses and which cannot be deleted. */
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
 * Makes, lists and ends clients' macaroons with the owner's macaroon. Each has a root key of its own, so that deleting
 * the key ends that client and no other. A client's macaroon never allows to make another.
 */
export function lndTokens(
  owner: () => LndRest,
  ids: RootKeyIds,
  random: (bytes: number) => Uint8Array,
): NodeTokens {
  return {
    newId: () => ids.draw(random(4)),
    async issue({ id, permissions, expiresAtMs }) {
      const request = { permissions: operationsFor(permissions), root_key_id: id };
      const options = { harmlessTwice: true };
      const baked = owner().post('/v1/macaroon', request, bakedMacaroonShape, options);
      const what = 'make macaroons for clients (macaroon:generate)';
      const { macaroon } = await may(what, baked);
      return expiresAtMs === null ? macaroon : restrictMacaroon(macaroon, timeBefore(expiresAtMs));
    },
    async revoke(id) {
      // LND does not answer with an error when there is no such id.
      const deleted = owner().delete(`/v1/macaroon/${id}`, anyShape);
      await may("end clients' macaroons (macaroon:write)", deleted);
    },
    async list() {
      const listed = owner().get('/v1/macaroon/ids', rootKeyIdsShape);
      const { root_key_ids } = await may("list clients' macaroons (macaroon:read)", listed);
      return root_key_ids.filter((id) => ids.owns(id));
    },
  };
}

function may<T>(what: string, call: Promise<T>): Promise<T> {
  return withRight(call, what, LND_PROTOCOL);
}
