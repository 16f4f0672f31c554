import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

/** The size of the pictures that the camera gives, in pixels. */
export const PICTURE = { width: 640, height: 480 };

/**
 * Writes a film that shows what a page's window shows now, in shades of grey, for a browser whose camera sees it. The
 * window must have the size of {@link PICTURE}.
 */
export async function filmWindow(page: Page, file: string): Promise<void> {
  const picture = (await page.screenshot({ type: 'png' })).toString('base64');
  const blank = await page.context().newPage();
  const pixels = await blank.evaluate<number[]>(`(async () => {
    const picture = new Image();
    picture.src = 'data:image/png;base64,${picture}';
    await picture.decode();
    const { width, height } = picture;
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context.drawImage(picture, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    return Array.from({ length: width * height }, (_, at) =>
      Math.round((data[at * 4] + data[at * 4 + 1] + data[at * 4 + 2]) / 3));
  })()`);
  await blank.close();
  writeFileSync(file, film(new Uint8Array(pixels)));
}

/** Returns a film of a grey picture, in the form YUV4MPEG2. */
function film(pixels: Uint8Array): Uint8Array {
  const { width, height } = PICTURE;
  const noColour = new Uint8Array((width * height) / 2).fill(128);
  const frame = [Buffer.from('FRAME\n'), pixels, noColour];
  const head = Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`);
  return Buffer.concat([head, ...frame, ...frame]);
}
