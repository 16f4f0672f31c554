import type { NodeTokens } from '../../node-groups.ts';
import { unreadable } from '../../remote/calls/broken.ts';
import { withRight } from '../../remote/place/lacking-right.ts';
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
    const shown = owner().read('showrunes', {}, runesShape);
    const { runes } = await may("list clients' runes (showrunes)", shown);
    return runes.flatMap(({ rune: text, blacklisted }) => {
      const rune = blacklisted ? null : readRune(text);
      const id = rune && ids.idOf(rune);
      return rune && id ? [{ id, uniqueId: rune.uniqueId }] : [];
    });
  }

  return {
    newId: () => ids.draw(random),
    async issue({ id, permissions, expiresAtMs }) {
      const restrictions = [
        methodsFor(permissions).map((method) => `method=${method}`),
        ...(expiresAtMs === null ? [] : [[`time<${Math.floor(expiresAtMs / 1000)}`]]),
        ids.restriction(id),
      ];
      const made = owner().write('createrune', { restrictions }, createdRuneShape);
      return (await may('make runes for clients (createrune)', made)).rune;
    },
    async revoke(id) {
      // A run that was cut off may have left a second rune of the id.
      for (const one of await marked()) {
        if (one.id !== id) continue;
        const number = Number(one.uniqueId);
        const range = { start: number, end: number };
        const options = { harmlessTwice: true };
        const ended = owner().write('blacklistrune', range, blacklistShape, options);
        const { blacklist } = await may("end clients' runes (blacklistrune)", ended);
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

function may<T>(what: string, call: Promise<T>): Promise<T> {
  return withRight(call, what, CLN_PROTOCOL);
}
