import { expect, test } from 'bun:test';
import { PageSize } from '../../src/wallet/read/sync.ts';

/** The size after pages that took so long for each payment. */
function sizeAt(msEach: number): number {
  const size = new PageSize();
  for (let page = 0; page < 20; page++) size.took(size.payments, size.payments * msEach);
  return size.payments;
}

test('a page takes about six milliseconds to store, within its bounds', () => {
  expect(sizeAt(0.04)).toBe(150);
  expect(sizeAt(0.001)).toBe(200);
  expect(sizeAt(1)).toBe(100);
});

test('one page that was held up changes the size by half at most', () => {
  const size = new PageSize();
  for (let page = 0; page < 20; page++) size.took(size.payments, size.payments * 0.03);
  expect(size.payments).toBe(200);
  size.took(200, 500);
  expect(size.payments).toBe(100);
  size.took(100, 0);
  expect(size.payments).toBe(200);
});
