import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { LINK_MS, oneTimeLinks } from '../../../src/http/console/one-time-links.ts';
import { MOST_OF_ALL } from '../../../src/http/console/room.ts';
import { ApiError } from '../../../src/model/errors.ts';

function linksAt() {
  const time = { ms: 0 };
  const links = oneTimeLinks({
    elapsedMs: () => time.ms,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
  });
  const make = (credentials: string | null, caller = 'owner') =>
    links.make({ caller, credentials });
  return { links, make, time };
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
    const { links, make } = linksAt();
    const tokens = [make('a'), make(null)];
    expect(tokens.every((token) => /^[0-9a-f]{64}$/.test(token))).toBe(true);
    expect(links.take(tokens[1] ?? '')).toBeNull();
    expect(links.take(tokens[0] ?? '')).toBe('a');
  });

  test('is looked at without being used, and not when it was used or is too old', () => {
    const { links, make, time } = linksAt();
    const [token, old] = [make('a'), make('b')];
    expect([links.look(token), links.look(token), links.take(token)]).toEqual(['a', 'a', 'a']);
    expect(kindOf(() => links.look(token))).toBe('unauthenticated');
    expect(kindOf(() => links.look('00'.repeat(32)))).toBe('unauthenticated');
    time.ms += LINK_MS;
    expect(kindOf(() => links.look(old))).toBe('unauthenticated');
  });

  test('works once', () => {
    const { links, make } = linksAt();
    const token = make('a');
    links.take(token);
    expect(kindOf(() => links.take(token))).toBe('unauthenticated');
  });

  test('works for a minute, and not in its last millisecond', () => {
    const { links, make, time } = linksAt();
    const [inTime, late] = [make('a'), make('b')];
    time.ms = LINK_MS - 1;
    expect(links.take(inTime)).toBe('a');
    time.ms = LINK_MS;
    expect(kindOf(() => links.take(late))).toBe('unauthenticated');
  });

  test('is unknown unless it was made', () => {
    const { links, make } = linksAt();
    make('a');
    expect(kindOf(() => links.take('ab'.repeat(32)))).toBe('unauthenticated');
    expect(kindOf(() => links.take(''))).toBe('unauthenticated');
  });

  test('ends when its caller has ten later ones open', () => {
    const { links, make } = linksAt();
    const first = make('first');
    const second = make('second');
    for (let made = 0; made < 9; made++) make('other');
    expect(kindOf(() => links.take(first))).toBe('unauthenticated');
    expect(links.take(second)).toBe('second');
  });

  test('does not end by the links of another caller, however many', () => {
    const { links, make } = linksAt();
    const own = make('own');
    for (let made = 0; made < MOST_OF_ALL; made++) make('weak', 'client');
    expect(links.take(own)).toBe('own');
  });

  test('makes room when all callers together have too many', () => {
    const { links, make } = linksAt();
    const [first, second] = [make('first'), make('second')];
    for (let made = 2; made <= MOST_OF_ALL; made++) make('other', `client ${made}`);
    expect(kindOf(() => links.take(first))).toBe('unauthenticated');
    expect(links.take(second)).toBe('second');
  });
});
