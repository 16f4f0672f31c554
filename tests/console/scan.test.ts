import { expect, setDefaultTimeout } from 'bun:test';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { filmWindow, PICTURE } from './camera-file.ts';
import { goTo, openConsole, startBrowser } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-scan',
  'the console pays what it sees with a camera',
);

inBrowser('a QR code on one screen is paid with the camera of another', async () => {
  const folder = temporaryFolder('console-camera');
  const camera = join(folder, 'camera.y4m');
  const { client_credentials } = await world().post('/sandbox/wallets', {});
  const shop = await openConsole(browser(), world().url, world().owner);
  await goTo(shop, 'Receive');
  await shop.getByLabel('Amount in sats').fill('2,700');
  await shop.getByLabel('What for').fill('Two coffees');
  await shop.getByRole('button', { name: 'Make the invoice' }).click();
  await shop.getByText('Waiting for the payment').waitFor();
  await shop.setViewportSize(PICTURE);
  const code = shop.getByRole('img', { name: 'QR code: Invoice' });
  await code.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  await filmWindow(shop, camera);

  const phone = await startBrowser(camera);
  const guest = await openConsole(phone, world().url, client_credentials, PICTURE);
  const complaints = complaintsOf(guest);
  await goTo(guest, 'Send');
  await guest.getByRole('button', { name: 'Scan a QR code' }).click();
  await guest.getByText('Two coffees').waitFor();
  // The camera is off as soon as the code is read.
  expect(await guest.locator('video').count()).toBe(0);
  await guest.getByRole('button', { name: 'Pay…' }).click();
  await guest.getByText('2,727 sats').waitFor();
  await guest.getByRole('button', { name: 'Pay now' }).click();
  for (const page of [guest, shop]) await page.getByText('Paid', { exact: true }).waitFor();
  expect(await code.count()).toBe(0);
  expect(complaints).toEqual([]);
  await Promise.all([phone.close(), shop.context().close()]);
  removeFolder(folder);
});
