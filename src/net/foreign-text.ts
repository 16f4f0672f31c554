/**
 * Everything that is not meant to be seen: control and format characters (bidirectional overrides among them), lone
 * surrogates, private use, line and paragraph separators. Joiners stay, which some scripts and emoji need.
 */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
const ELLIPSIS = '…';

/**
 * Text that a service outside wrote, safe to show: printable, on one line, at most `maxCharacters` code points and
 * `maxBytes` UTF-8 bytes. What is cut ends in an ellipsis. Empty for anything but a string.
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
