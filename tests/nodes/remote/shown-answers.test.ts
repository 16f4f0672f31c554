import { describe, expect, test } from 'bun:test';
import { ClnRefusal } from '../../../src/nodes/cln/words/refusal.ts';
import { LndRefusal } from '../../../src/nodes/lnd/words/refusal.ts';

for (const [title, shown, tokens] of [
  ['LND', (words: string) => new LndRefusal(500, 2, words).text, ['zY+/_-09aB']],
  ['Core Lightning', (words: string) => new ClnRefusal(209, words).text, ['zY+/_=-09a', '=']],
] as const) {
  describe(`what is shown of an answer of ${title}`, () => {
    test('is no more than 300 characters, with an ellipsis where it was cut', () => {
      const words = (length: number) => `${'word '.repeat(100).slice(0, length - 1)}.`;
      expect(shown(words(300))).toBe(words(300));
      expect(shown(words(301))).toBe(`${words(301).slice(0, 299)}…`);
    });

    test('is no token: 80 hex digits, or 100 characters of base64, are left out wherever they are', () => {
      for (const hex of ['0f'.repeat(40), '0F'.repeat(40), '0'.repeat(80), 'a'.repeat(80)]) {
        expect(shown(`no ${hex} and ${hex}!`)).toBe('no ... and ...!');
        expect(shown(`no ${hex.slice(1)}!`)).toBe(`no ${hex.slice(1)}!`);
      }
      for (const part of [...tokens, 'z', 'Z', '9', '+', '/', '_', '-']) {
        const base64 = part.repeat(100).slice(0, 100);
        expect(shown(`no ${base64} and ${base64}!`)).toBe('no ... and ...!');
        // Of hex digits alone a shorter one is a token, too.
        if (part !== '9') expect(shown(`no ${base64.slice(1)}!`)).toBe(`no ${base64.slice(1)}!`);
      }
    });
  });
}
