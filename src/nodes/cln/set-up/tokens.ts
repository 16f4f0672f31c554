import type { NodeTokens } from '../../node-groups.ts';
import { unreadable } from '../../remote/calls/broken.ts';
import { orLackingRight } from '../../remote/place/lacking-right.ts';
import { methodsFor } from '../reads/grants.ts';
import { CLN_PROTOCOL } from '../reads/protocol.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import { readRune } from '../words/rune.ts';
import type { RuneIds } from '../words/rune-ids.ts';
import { blacklistShape, createdRuneShape, runesShape } from '../words/wire.ts';

/**
 * Makes, lists and ends clients' runes with the owner's rune. Each has a unique id of its own, so that blacklisting it
 * ends that client and no other. Runes of clients never have a `rate`, because the node refuses faster calls in the
 * same way as calls that were not granted.
 */
export function clnTokens(
  owner: () => ClnRpc,
  ids: RuneIds,
  random: (bytes: number) => Uint8Array,
): NodeTokens {
  /** The runes at the node that this installation made and that are not ended, by their ids. */
  async function marked(): Promise<{ id: string; uniqueId: string }[]> {
    const { runes } = await owner()
      .read('showrunes', {}, runesShape)
      .catch((error: unknown) => {
        throw mayNot("list clients' runes (showrunes)", error);
      });
    return runes.flatMap(({ rune: text, blacklisted }) => {
      const rune = blacklisted ? null : readRune(text);
      const id = rune && ids.idOf(rune);
      return rune && id ? [{ id, uniqueId: rune.uniqueId }] : [];
    });
  }

  return {
    newId: () => ids.draw(random),
    obstacle: () => null,
    async issue({ id, permissions, expiresAtMs }) {
      const { rune } = await owner()
        .write(
          'createrune',
          {
            restrictions: [
              methodsFor(permissions).map((method) => `method=${method}`),
              ...(expiresAtMs === null ? [] : [[`time<${Math.floor(expiresAtMs / 1000)}`]]),
              ids.restriction(id),
            ],
          },
          createdRuneShape,
        )
        .catch((error: unknown) => {
          throw mayNot('make runes for clients (createrune)', error);
        });
      return rune;
    },
    async revoke(id) {
      // A run that was cut off may have left a second rune of the id.
      for (const one of await marked()) {
        if (one.id !== id) continue;
        const number = Number(one.uniqueId);
        const range = { start: number, end: number };
        const { blacklist } = await owner()
          .write('blacklistrune', range, blacklistShape, { harmlessTwice: true })
          .catch((error: unknown) => {
            throw mayNot("end clients' runes (blacklistrune)", error);
          });
        if (!blacklist.some(({ start, end }) => start <= number && number <= end)) {
          throw unreadable(CLN_PROTOCOL.title, new Error('the rune is not in the list'), false);
        }
      }
    },
    async list() {
      return [...new Set((await marked()).map(({ id }) => id))];
    },
  };
}

function mayNot(what: string, error: unknown): unknown {
  return orLackingRight(error, what, CLN_PROTOCOL);
}
