import { INVISIBLE } from '../lib/invisible.ts';

const ELLIPSIS = '…';

/**
 * Makes the text of an outside service safe to show: printable, on one line, at most `maxCharacters` code points and
 * `maxBytes` UTF-8 bytes. A text that is cut ends in an ellipsis. Returns an empty text for anything but a string.
 */
export function foreignText(
  value: unknown,
  {
    maxCharacters,
    maxBytes = Number.POSITIVE_INFINITY,
  }: { maxCharacters: number; maxBytes?: number },
): string {
  if (typeof value !== 'string') return '';
  const characters = [...value.replace(INVISIBLE, ' ').replace(/\s+/g, ' ').trim()];
  const fits = (text: string) => Buffer.byteLength(text) <= maxBytes;
  if (characters.length <= maxCharacters && fits(characters.join(''))) return characters.join('');
  let kept = characters.slice(0, maxCharacters - 1);
  while (!fits(kept.join('') + ELLIPSIS)) kept = kept.slice(0, -1);
  return kept.join('') + ELLIPSIS;
}
