import { expect, test } from 'bun:test';
import { pageText } from '../support/pages.ts';

const decisions = pageText('docs/decisions.md').split(/^## /m).slice(1);

test('decisions are numbered from 1 without a gap', () => {
  const numbers = decisions.map((text) => Number(/^(\d+)\. \S/.exec(text)?.[1]));
  expect(numbers).toEqual(decisions.map((_, i) => i + 1));
});

test('the table at the top says what every decision is about, from 1 to the last', () => {
  const rows = pageText('docs/decisions.md').matchAll(/^\| (\d+)(?: to (\d+))? \|/gm);
  const listed = [...rows].flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, nth) => Number(first) + nth),
  );
  expect(listed).toEqual(decisions.map((_, i) => i + 1));
});

test('every decision is one paragraph that says what it rejects', () => {
  const wrong = decisions.filter((text) => {
    const [, ...paragraphs] = text.trim().split('\n\n');
    return paragraphs.length !== 1 || !/\bRejected: /.test(text);
  });
  expect(wrong).toEqual([]);
});
