import { expect, test } from 'bun:test';
import { pageText } from '../support/pages.ts';

const decisions = pageText('docs/decisions.md').split(/^## /m).slice(1);

test('decisions are numbered from 1 without a gap', () => {
  const numbers = decisions.map((text) => Number(/^(\d+)\. \S/.exec(text)?.[1]));
  expect(numbers).toEqual(decisions.map((_, i) => i + 1));
});

test('the table at the top names every decision once', () => {
  const rows = pageText('docs/decisions.md').matchAll(/^\| (\d[\d, to]*) \|/gm);
  const listed = [...rows].flatMap(([, numbers = '']) =>
    numbers.split(', ').flatMap((part) => {
      const [first = 0, last = first] = part.split(' to ').map(Number);
      return Array.from({ length: last - first + 1 }, (_, nth) => first + nth);
    }),
  );
  expect(listed.toSorted((a, b) => a - b)).toEqual(decisions.map((_, i) => i + 1));
});

test('every decision is one paragraph, or two around a list, and says what it rejects', () => {
  const wrong = decisions.filter((text) => {
    const [, ...paragraphs] = text.trim().split('\n\n');
    const isList = paragraphs.length === 3 && paragraphs[1]?.startsWith('- ');
    return !(paragraphs.length === 1 || isList) || !/\bRejected: /.test(text);
  });
  expect(wrong).toEqual([]);
});
