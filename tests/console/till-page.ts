import { expect } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { barriersOf } from './console-axe.ts';
import type { ConsoleWorld } from './console-world.ts';

export const PHONE = { width: 390, height: 844 };
export const SCREEN = { width: 1280, height: 800 };
/** How long a busy machine may take to show something, in milliseconds. */
const PATIENCE_MS = 50_000;

/** What is done at a till, and to it. */
export function tillSteps(world: () => ConsoleWorld, browser: () => Browser) {
  /** The widths in which axe has looked at the question that a link asks. */
  const seenWidths = new Set<number>();

  /** Signs a device of its own in by a link. */
  async function openLink(view: typeof PHONE, link: string, locale?: string): Promise<Page> {
    const context = await browser().newContext({ viewport: view, ...(locale && { locale }) });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(link);
    await page.getByText(/The owner of this wallet has made the link/).waitFor();
    await page.getByText(/You would sign in as “/).waitFor();
    expect(await page.locator('main').innerText()).not.toContain('command');
    expect(await page.locator('button.main').innerText()).toBe('Sign in by the link');
    // The question is the same for each link, so axe looks at it once in each size.
    if (!seenWidths.has(view.width)) expect(await barriersOf(page)).toEqual([]);
    seenWidths.add(view.width);
    await page.locator('button.main').click();
    await page.getByLabel('Amount in sats').waitFor();
    return page;
  }

  /** Makes a till. Returns a link that signs a device in. */
  async function linkOf(label: string): Promise<string> {
    const scopes = ['read_info', 'read_payments', 'receive'];
    const till = await world().post('/v2/node/create_client', { label, scopes, own: true });
    const { client_pk } = till;
    const { token } = await world().post('/v2/console/device_link', { client_pk });
    return `${world().url}/console#link=${token}`;
  }

  return {
    linkOf,
    openLink,

    /** Makes a till, and opens it by its link. */
    async openTill(view: typeof PHONE, label = 'Till 1', locale?: string): Promise<Page> {
      return openLink(view, await linkOf(label), locale);
    },

    /** Shows an invoice of what is typed, in sats unless told otherwise. Returns it. */
    async ask(page: Page, typed: string, unit = 'sats'): Promise<string> {
      const answer = page.waitForResponse(/create_invoice/);
      await page.getByLabel(`Amount in ${unit}`).fill(typed);
      await page.getByRole('button', { name: 'Show the code' }).click();
      await page.getByRole('img', { name: 'QR code: Invoice' }).waitFor();
      return (await (await answer).json()).invoice;
    },

    pay: (payable: string) => world().post('/sandbox/pay', { payable }),
  };
}

/** Has the till take prices in a currency, or sats. */
export const choose = (page: Page, unit: string) => page.getByLabel('Currency').selectOption(unit);
export const isPaid = (page: Page) =>
  page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
export const next = (page: Page) => page.getByRole('button', { name: 'Next' }).click();

/** Returns where something is on the screen. */
export async function placeOf(page: Page, selector: string) {
  const box = await page.locator(selector).boundingBox();
  return box ?? { x: 0, y: 0, width: 0, height: 0 };
}
