import type { Dice } from './dice.ts';

/** Texts that often break readers: empty ones, control characters, lone surrogates, look-alikes, unusual numbers. */
const NASTY = [
  '',
  ' ',
  '\0',
  '\u0001\u001f\u007f',
  '\r\nset-cookie: a=b',
  '\ud800',
  'a\udc00b',
  '\udfff\ud800',
  '\ufeff',
  '\u202eabc',
  '\u2028',
  '\u0130\u0131\u017f\u212a',
  '\u0663\u0664',
  '\u{1f468}\u200d\u{1f469}',
  'e\u0301'.repeat(60),
  'NaN',
  'Infinity',
  '-1',
  '-0',
  '+1',
  '1e309',
  '1e-7',
  '0x10',
  '0b1',
  '1_000',
  '.5',
  '1.',
  '1.2345',
  '00001',
  '2100000000000001',
  '9007199254740993',
  '9'.repeat(400),
  'null',
  'true',
  '[]',
  '{}',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '../../etc/passwd',
  '%',
  '%00',
  '%zz',
  '%ed%a0%80',
  '<script>',
  '@',
  'a@',
  '@b',
  'a@b@c',
  '\u20bf',
  '\u20bfa@b',
  'bitcoin:',
  'bitcoin:?',
  'bitcoin:?amount=',
  'lightning:',
  'lnurlp://',
  'http://',
  'lno1',
  'lnbcrt1',
  'bcrt1',
] as const;

const ALPHABETS = [
  'qpzry9x8gf2tvdw0s3jn54khce6mua7l',
  '0123456789',
  '0123456789abcdef',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  '.,:;?&=%+-_/@#[]{}"\' \t\n',
  '\0\u0001\u007f\u0080\u00ff\u0130\u20bf\ud800\udc00\ufeff\uffff',
] as const;

/** Returns an unusual text, of up to some thousand characters and rarely more. */
export function nastyText(dice: Dice): string {
  const kind = dice.below(10);
  if (kind < 6) return dice.pick(NASTY);
  if (kind < 8) return randomText(dice, dice.below(80));
  if (kind === 8) return dice.pick(NASTY).repeat(1 + dice.below(200));
  return dice.pick(NASTY) + randomText(dice, dice.below(20)) + dice.pick(NASTY);
}

/** Returns random characters of one alphabet. */
export function randomText(dice: Dice, length: number): string {
  const alphabet = dice.pick(ALPHABETS);
  return Array.from({ length }, () => alphabet[dice.below(alphabet.length)] ?? '').join('');
}

/** Makes one to four changes to a text: characters are replaced, removed, doubled, moved or changed in case. */
export function mutateText(dice: Dice, text: string): string {
  let mutated = text;
  for (let changes = 1 + dice.below(4); changes > 0; changes--) mutated = changeText(dice, mutated);
  return mutated;
}

function changeText(dice: Dice, text: string): string {
  const at = dice.below(text.length + 1);
  const end = Math.min(text.length, at + 1 + dice.below(8));
  const before = text.slice(0, at);
  const part = text.slice(at, end);
  const after = text.slice(end);
  switch (dice.below(10)) {
    case 0:
      return (
        before +
        String.fromCharCode((part.charCodeAt(0) || 0) ^ (1 << dice.below(8))) +
        text.slice(at + 1)
      );
    case 1:
      return before + randomText(dice, 1) + text.slice(at + 1);
    case 2:
      return before + randomText(dice, 1 + dice.below(4)) + text.slice(at);
    case 3:
      return before + after;
    case 4:
      return before + part.repeat(2 + dice.below(4)) + after;
    case 5:
      return before;
    case 6:
      return dice.chance(0.5) ? text.toUpperCase() : before + part.toUpperCase() + after;
    case 7:
      return before + [...part].reverse().join('') + after;
    case 8:
      return before + nastyText(dice) + after;
    default:
      return `${dice.pick([' ', '\n', '\ufeff', 'lightning:', 'LIGHTNING:', 'bitcoin:'])}${text}`;
  }
}

/** Makes one to four changes to bytes. */
export function mutateBytes(dice: Dice, bytes: Uint8Array): Uint8Array {
  let mutated = [...bytes];
  for (let changes = 1 + dice.below(4); changes > 0; changes--) {
    const at = dice.below(mutated.length + 1);
    const kind = dice.below(5);
    if (kind === 0) mutated[at] = (mutated[at] ?? 0) ^ (1 << dice.below(8));
    else if (kind === 1) mutated[at] = dice.pick([0, 1, 0x7f, 0x80, 0xfc, 0xfd, 0xfe, 0xff]);
    else if (kind === 2) mutated.splice(at, 1 + dice.below(4));
    else if (kind === 3) mutated.splice(at, 0, ...dice.bytes(1 + dice.below(4)));
    else mutated = mutated.slice(0, at);
  }
  return Uint8Array.from(mutated);
}
