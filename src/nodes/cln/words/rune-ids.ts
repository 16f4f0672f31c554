import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { commentsOf, type Rune } from './rune.ts';

/** The field under which a client's rune carries its id, as a comment. */
const FIELD = 'wallet_sidecar';
const MARK_CHARACTERS = 16;
const RANDOM_BYTES = 16;

/** Ids of clients' runes, which carry a mark of this installation. The node's own numbers cannot be chosen. */
export class RuneIds {
  readonly #mark: string;

  /** `mark` is the id of the installation. */
  constructor(mark: string) {
    const digest = hex.encode(sha256(utf8ToBytes(`wallet-sidecar rune${mark}`)));
    this.#mark = `${digest.slice(0, MARK_CHARACTERS)}-`;
  }

  draw(random: (bytes: number) => Uint8Array): string {
    return `${this.#mark}${hex.encode(random(RANDOM_BYTES))}`;
  }

  /** The restriction by which a rune carries the id. It restricts nothing. */
  restriction(id: string): string[] {
    return [`${FIELD}#${id}`];
  }

  /** The id that this installation gave the rune, or null. */
  idOf(rune: Rune): string | null {
    return commentsOf(rune, FIELD).find((id) => id.startsWith(this.#mark)) ?? null;
  }
}
