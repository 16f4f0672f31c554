import { expect, test } from 'bun:test';
import { linkTo, linkToken, placeOf } from '../../../src/console/values/place.ts';

test('a link leads to the place that it was made of', () => {
  for (const rest of ['', '0000001764000000000-ln_ab', 'a/b#c?d=é %']) {
    expect(placeOf(linkTo('payments', rest))).toEqual({ page: 'payments', rest });
  }
});

test('a fragment that names no page is the first page', () => {
  for (const fragment of ['', '#', '#x', '#/%', '#/Payments', `#link=${'ab'.repeat(32)}`]) {
    expect(placeOf(fragment).page).toBe('');
  }
});

test('only a whole token of a one-time link is one', () => {
  const token = 'ab'.repeat(32);
  expect(linkToken(`#link=${token}`)).toBe(token);
  for (const fragment of [
    '',
    '#link=',
    `#link=${token}0`,
    `#link=${token.toUpperCase()}`,
    `#/link=${token}`,
  ]) {
    expect(linkToken(fragment)).toBeNull();
  }
});
