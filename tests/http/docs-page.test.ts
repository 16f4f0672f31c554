import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import type { Document } from '../../src/http/docs/document.ts';
import { docsPage } from '../../src/http/docs/page.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { docsRoutes } from '../../src/http/routes/docs.ts';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { ERRORS } from '../../src/model/errors.ts';

const served = [...ROUTES, ...SANDBOX_ROUTES];
const routes = [...served, ...docsRoutes(served)];
const page = docsPage(
  openApiDocument(routes, {
    version: '1.2.3',
    serverUrl: 'http://127.0.0.1:5393',
  }) as unknown as Document,
)();
const policy = page.headers.get('content-security-policy') ?? '';
const html = await page.text();
const rows = [...html.matchAll(/<tr>(<td>.*?)<\/tr>/gs)].map(([, row = '']) =>
  [...row.matchAll(/<td>(.*?)<\/td>/gs)].map(([, cell = '']) => plain(cell)),
);

function plain(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)))
    .trim();
}

/** Returns the part of the page about one endpoint. */
function about(summary: string): string {
  const found = html
    .split('<article>')
    .find((part) => plain(/<h3>.*?<\/h3>/s.exec(part)?.[0] ?? '').startsWith(summary));
  if (!found) throw new Error(`${summary} is on the page`);
  return found;
}

describe('the page of documentation', () => {
  test('allows one style and one script, by the hashes of what they hold, and no requests', () => {
    const hashed = (element: string) => {
      const found = [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))];
      expect([element, found.length]).toEqual([element, 1]);
      return `'sha256-${createHash('sha256')
        .update(found[0]?.[1] ?? '')
        .digest('base64')}'`;
    };
    expect(policy.split('; ').toSorted()).toEqual(
      [
        "default-src 'none'",
        `script-src ${hashed('script')}`,
        `style-src ${hashed('style')}`,
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ].toSorted(),
    );
    expect(html).not.toMatch(/\s(?:style|src|on\w+)=|<script\s|<link/i);
  });

  test('has a folded list of all endpoints and resources, by groups', () => {
    const lists = [...html.matchAll(/<details><summary class="group">(.*?)<\/ul>/gs)].join('');
    expect(lists).not.toContain('<details open');
    for (const { path } of routes)
      expect(plain(lists)).toContain(path.replace('/v2/node/', '').replace(/:(\w+)/g, '{$1}'));
    for (const [, name = ''] of html.matchAll(/id="(schema-\w+)"/g))
      expect(lists).toContain(`href="#${name}"`);
  });

  test('has no cell that is empty, ends in "or", or names a type that is none', () => {
    expect(rows.length).toBeGreaterThan(300);
    for (const cells of rows) {
      for (const cell of cells) {
        expect(cell).not.toBe('');
        expect(cell).not.toMatch(/(^|\s|,)or$|^or\s|undefined|\[object/);
      }
    }
  });

  test('gives every field a type and a meaning, those of nested objects too', () => {
    const names = rows.filter((cells) => cells.length === 3).map(([name = '']) => name);
    expect(names).toContain('disclosures.offer_issuer');
    expect(names).toContain('input[].previous_output');
    expect(names).toContain('data.sent');
  });

  test('shows limits and defaults', () => {
    const listing = about('List cached payments');
    expect(listing).toContain('1 to 1000; default <code>100</code>');
    expect(about('Pay any payment string')).toContain(
      '1 to 200 characters; at most 512 bytes of UTF-8',
    );
    expect(about('Buy Bitcoin through a payment app')).toContain('at least 5000');
  });

  test('begins with how to call, and the walk from an invoice to its money', () => {
    const titles = [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, title]) => title);
    expect(titles.slice(0, 2)).toEqual(['Calling', 'A first payment']);
    const [, walk = ''] = /<ol class="walk">(.*?)<\/ol>/s.exec(html) ?? [];
    expect(
      [...walk.matchAll(/127\.0\.0\.1:5393(\/\w+(?:\/\w+)*)/g)].map(([, path]) => path),
    ).toEqual(['/v2/node/create_invoice', '/sandbox/pay', '/v2/node/wait_for_payment']);
    for (const word of ['Bearer', 'Idempotency-Key', 'Prefer', 'X-Ignored-Fields']) {
      expect(html.slice(0, html.indexOf(walk))).toContain(word);
    }
  });

  test('has every endpoint by its summary, foldable, with its statuses and errors', () => {
    for (const { summary, path } of routes) {
      const section = about(summary);
      expect(section).toContain('<details class="endpoint">');
      expect(plain(section)).toContain(path.replace(/:(\w+)/g, '{$1}'));
    }
    const paying = about('Pay a BOLT 11 invoice');
    for (const name of ['refused', 'overBudget', 'idempotencyConflict', 'timeout'] as const) {
      expect(paying).toContain(`<b>${ERRORS[name].code}</b>`);
    }
    expect(paying).toContain('<td>202</td>');
  });

  test('shows the values of an enum that has a name where they are used, with the default', () => {
    expect(plain(about('Send on chain'))).toMatch(
      /priority\s*high, normal or background\s*How soon [^<]*? default normal/,
    );
    expect(html).not.toContain('schema-Priority');
  });

  test('describes each resource once', () => {
    for (const name of ['Payment', 'Payable', 'NodeInfo', 'ClientInfo', 'Delivery', 'Error']) {
      expect(html.split(`id="schema-${name}"`)).toHaveLength(2);
    }
  });
});
