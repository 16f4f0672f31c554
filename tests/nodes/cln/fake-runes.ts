import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64url } from '@scure/base';
import { allowsMethod, type Rune, readRune } from '../../../src/nodes/cln/words/rune.ts';
import { type FakeCln, refusal } from './fake-cln.ts';

/** A rune with that number and these restrictions, whose signature is of zeros. */
function runeOf(uniqueId: number, restrictions: readonly (readonly string[])[] = []): string {
  const text = [`=${uniqueId}`, ...restrictions.map((one) => one.join('|'))].join('&');
  return base64url.encode(new Uint8Array([...new Uint8Array(32), ...utf8ToBytes(text)]));
}

/** The rune of the fake's owner. */
export const OWNER_RUNE = runeOf(0);

/** Has a fake make, list, end and check runes. It checks no signature. */
export function withRunes(cln: FakeCln): void {
  const runes: string[] = [OWNER_RUNE];
  const blacklist: { start: number; end: number }[] = [];
  const ok = (body: unknown) => Response.json(body, { status: 201 });
  const isEnded = ({ uniqueId }: Rune) =>
    blacklist.some(({ start, end }) => start <= Number(uniqueId) && Number(uniqueId) <= end);
  const isOver = ({ restrictions }: Rune) =>
    restrictions.flat().some((one) => one.field === 'time' && cln.nowSecs() >= Number(one.value));

  cln.on('createrune', ({ restrictions }) => {
    const rune = runeOf(runes.length, restrictions as string[][]);
    runes.push(rune);
    return ok({ rune });
  });
  cln.on('showrunes', () =>
    ok({
      runes: runes.map((text) => {
        const rune = readRune(text);
        return { rune: text, blacklisted: rune !== null && isEnded(rune) };
      }),
    }),
  );
  cln.on('blacklistrune', ({ start, end }) => {
    blacklist.push({ start: Number(start), end: Number(end) });
    return ok({ blacklist });
  });
  cln.accept((text, method) => {
    const rune = readRune(text);
    if (rune === null || isEnded(rune)) return false;
    if (isOver(rune)) return refusal(1502, 'Not permitted: time is over', 401);
    return allowsMethod(rune, method) || refusal(1502, 'Not permitted: method is not allowed', 401);
  });
}
