import { expect, test } from 'bun:test';
import decodeQR from 'qr/decode.js';
import { encode } from 'uqr';
import { addressQrText, invoiceQrText, qrPath } from '../../../src/console/values/qr-path.ts';

/** Draws a path as {@link qrPath} makes it, at some pixels for each module. */
function drawn(path: string, size: number, pixels: number) {
  const side = size * pixels;
  const data = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    const [left, top, wide] = [Number(x), Number(y), Number(width)].map((one) => one * pixels);
    for (let row = top ?? 0; row < (top ?? 0) + pixels; row++) {
      for (let column = left ?? 0; column < (left ?? 0) + (wide ?? 0); column++) {
        data.fill(0, (row * side + column) * 4, (row * side + column) * 4 + 3);
      }
    }
  }
  return { width: side, height: side, data };
}

test('the path of a QR code is read back by a reader', () => {
  const content = invoiceQrText(`lnbcrt10u1p${'q'.repeat(250)}`);
  const { size, data } = encode(content, { border: 4, ecc: 'L' });
  expect(decodeQR(drawn(qrPath(data), size, 4))).toBe(content);
});

test('an address keeps its case where case matters', () => {
  expect(addressQrText('bcrt1qxy')).toBe('BITCOIN:BCRT1QXY');
  expect(addressQrText('2N1abC')).toBe('bitcoin:2N1abC');
});
