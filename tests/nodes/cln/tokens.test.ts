import { afterEach, beforeEach, expect, test } from 'bun:test';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64url } from '@scure/base';
import { isApiError } from '../../../src/model/errors.ts';
import { clnTokens } from '../../../src/nodes/cln/set-up/tokens.ts';
import { RuneIds } from '../../../src/nodes/cln/words/rune-ids.ts';
import { FakeCln } from './fake-cln.ts';
import { rpcOf } from './fake-wallet.ts';

const IDS = new RuneIds('aa'.repeat(16));
const ID = IDS.draw((bytes) => new Uint8Array(bytes).fill(3));

let cln: FakeCln;
beforeEach(() => {
  cln = new FakeCln();
});
afterEach(() => cln.stop());

/** A rune with that number, as the node lists it. */
function listed(uniqueId: string) {
  const text = `=${uniqueId}&method=getinfo&${IDS.restriction(ID)}`;
  const bytes = new Uint8Array([...new Uint8Array(32), ...utf8ToBytes(text)]);
  return { rune: base64url.encode(bytes) };
}

test('a rune is ended only where the answer shows its number in the blacklist', async () => {
  const tokens = clnTokens(
    () => rpcOf(cln),
    IDS,
    (bytes) => new Uint8Array(bytes),
  );
  cln.on('showrunes', () => Response.json({ runes: [listed('7')] }));
  const revoke = () => tokens.revoke(ID).catch((error: unknown) => error);
  for (const answer of [{}, { blacklist: [] }, { blacklist: [{ start: 0, end: 6 }] }]) {
    cln.on('blacklistrune', () => Response.json(answer));
    expect(isApiError(await revoke(), 'unreadable')).toBe(true);
  }
  cln.on('blacklistrune', () => Response.json({ blacklist: [{ start: 5, end: 7 }] }));
  expect(await revoke()).toBeUndefined();
  expect(cln.of('blacklistrune').at(-1)).toEqual({ start: 7, end: 7 });
});
