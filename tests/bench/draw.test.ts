import { expect, test } from 'bun:test';
import { drawPicture } from '../../bench/page/draw.ts';
import type { Picture } from '../../bench/page/picture.ts';
import { scaleOf, short } from '../../bench/page/scale.ts';

const growth: Picture = {
  name: 'growth',
  title: 'Latency & size',
  panels: [
    {
      x: { label: 'payments', scale: 'log' },
      y: { label: 'latency, ms', scale: 'linear' },
      lines: [
        {
          name: 'list',
          points: [
            [1_000, 2],
            [1_000_000, 4],
          ],
        },
        {
          name: 'payment',
          points: [
            [1_000, 1],
            [1_000_000, 1],
          ],
        },
      ],
    },
  ],
};

test('a linear axis begins at 0 and goes up to a round number above the values', () => {
  const { place, ticks } = scaleOf('linear', [3, 87]);
  expect(ticks).toEqual([0, 20, 40, 60, 80, 100]);
  expect([place(0), place(50), place(100)]).toEqual([0, 0.5, 1]);
  expect(scaleOf('linear', [0]).ticks).toEqual([0, 1]);
});

test('a logarithmic axis goes from power of ten to power of ten', () => {
  const { place, ticks } = scaleOf('log', [0.3, 40]);
  expect(ticks).toEqual([0.1, 1, 10, 100]);
  expect(place(1)).toBeCloseTo(1 / 3);
  expect(scaleOf('log', [10, 10]).ticks).toEqual([10, 100]);
});

test('numbers at an axis are short', () => {
  expect([0.1, 0.30000000000000004, 20, 1_000, 1e6].map(short)).toEqual([
    '0.1',
    '0.3',
    '20',
    '1k',
    '1M',
  ]);
});

test('a picture has its axes with units, its lines, and their names from the top', () => {
  const svg = drawPicture(growth);
  expect(svg).toContain('aria-label="Latency &amp; size"');
  expect(svg).toMatch(/>payments<\/text>/);
  expect(svg).toMatch(/>latency, ms<\/text>/);
  expect(svg).toMatch(/>1k<\/text>[\s\S]*>1M<\/text>/);
  // From 1,000 to 1,000,000 across the box, and from half its height to its top.
  expect(svg).toContain('class="line" d="M64 105L534 12"');
  expect(svg.indexOf('>list</text>')).toBeLessThan(svg.indexOf('>payment</text>'));
});

test('a picture is readable in light and dark surroundings', () => {
  const svg = drawPicture(growth);
  expect(svg).toContain('@media (prefers-color-scheme: dark)');
  expect(svg).toContain('class="ground"');
});
