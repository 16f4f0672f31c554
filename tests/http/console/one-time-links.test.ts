import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { LINK_MS, oneTimeLinks } from '../../../src/http/console/one-time-links.ts';
import { ApiError } from '../../../src/model/errors.ts';

function linksAt() {
  const time = { ms: 0 };
  const links = oneTimeLinks({
    elapsedMs: () => time.ms,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
  });
  return { links, time };
}

const kindOf = (act: () => unknown): string => {
  try {
    return `no error: ${act()}`;
  } catch (error) {
    return error instanceof ApiError ? error.kind : `${error}`;
  }
};

describe('a one-time link (docs/decisions.md 132)', () => {
  test('holds 256 random bits and gives the credentials that it was made for', () => {
    const { links } = linksAt();
    const tokens = [links.make('a'), links.make(null)];
    expect(tokens.every((token) => /^[0-9a-f]{64}$/.test(token))).toBe(true);
    expect(links.take(tokens[1] ?? '')).toBeNull();
    expect(links.take(tokens[0] ?? '')).toBe('a');
  });

  test('works once', () => {
    const { links } = linksAt();
    const token = links.make('a');
    links.take(token);
    expect(kindOf(() => links.take(token))).toBe('unauthenticated');
  });

  test('works for a minute, and not in its last millisecond', () => {
    const { links, time } = linksAt();
    const [inTime, late] = [links.make('a'), links.make('b')];
    time.ms = LINK_MS - 1;
    expect(links.take(inTime)).toBe('a');
    time.ms = LINK_MS;
    expect(kindOf(() => links.take(late))).toBe('unauthenticated');
  });

  test('is unknown unless it was made', () => {
    const { links } = linksAt();
    links.make('a');
    expect(kindOf(() => links.take('ab'.repeat(32)))).toBe('unauthenticated');
    expect(kindOf(() => links.take(''))).toBe('unauthenticated');
  });

  test('ends when a hundred later ones are open', () => {
    const { links } = linksAt();
    const first = links.make('first');
    const second = links.make('second');
    for (let made = 0; made < 99; made++) links.make('other');
    expect(kindOf(() => links.take(first))).toBe('unauthenticated');
    expect(links.take(second)).toBe('second');
  });
});
