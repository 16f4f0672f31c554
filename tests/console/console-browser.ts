import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** How long a busy machine may take to show something, in milliseconds. */
const PATIENCE_MS = 50_000;

/** The Chromium of this machine; undefined where there is none. It is never downloaded. */
export const CHROMIUM =
  process.env.CHROMIUM_BIN ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);

/**
 * What this Chromium need not have: parts of its own window, which each page of a test would start a process for, and
 * what Playwright switches off, since the last list given counts.
 */
const SWITCHED_OFF = [
  'InitialWebUI',
  'PreloadTopChromeWebUI',
  'SpareRendererForSitePerProcess',
  'WebUILocationBar',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxPopup',
  'WebUIReloadButton',
  'WebUIToolbar',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'Translate',
];

/** Says loudly that tests are skipped where there is no Chromium. */
export function warnWithoutChromium(whatIsNotChecked: string): void {
  if (CHROMIUM !== undefined) return;
  console.warn(
    `SKIPPED: Chromium was not found, so it is NOT checked that ${whatIsNotChecked}. Set CHROMIUM_BIN.`,
  );
}

/**
 * Starts a fresh browser, which asks nothing of the network, whatever a page says. With `cameraFile`, a film in the
 * form YUV4MPEG2, it has a camera that sees that and nothing else. (One browser for all files takes no less of a
 * processor: what is saved at its start goes into the connection to it.)
 */
export function startBrowser(cameraFile?: string): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
      `--disable-features=${SWITCHED_OFF.join(',')}`,
      ...(cameraFile === undefined
        ? []
        : [
            '--use-fake-device-for-media-stream',
            `--use-file-for-fake-video-capture=${cameraFile}`,
            '--use-fake-ui-for-media-stream',
          ]),
    ],
  });
}

/** Opens the console in a browser of its own cookies and storage, signed in with credentials. */
export async function openConsole(
  browser: Browser,
  baseUrl: string,
  credentials: string,
  view: { readonly width: number; readonly height: number } = { width: 1280, height: 900 },
): Promise<Page> {
  const context = await browser.newContext({ viewport: view });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${baseUrl}/console`);
  await page.getByLabel('Client credentials, or the token of the cookie file').fill(credentials);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').waitFor();
  return page;
}

/** Returns the titles of the pages that are offered. */
export async function titlesOf(page: Page): Promise<string[]> {
  await openMore(page);
  return page.getByRole('navigation').getByRole('link').allInnerTexts();
}

/** Goes to a page of the console by its link. */
export async function goTo(page: Page, title: string): Promise<void> {
  const link = page.getByRole('navigation').getByRole('link', { name: title, exact: true });
  if (!(await link.isVisible())) await openMore(page);
  await link.click();
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
}

/** Shows the pages that have no place in the bar of a phone. */
async function openMore(page: Page): Promise<void> {
  const more = page.getByRole('button', { name: 'More', exact: true, expanded: false });
  if (await more.isVisible()) await more.click();
}
