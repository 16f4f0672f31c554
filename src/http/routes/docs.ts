import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { Document } from '../docs/document.ts';
import type { Parts } from '../parts.ts';
import { get, RawJson, type Route } from '../route.ts';

/** Returns the routes that serve the documentation of `routes`. */
export function docsRoutes(routes: readonly Route[]): readonly Route[] {
  const own: readonly Route[] = [
    get('/v2/openapi.json', 'health', {
      access: 'public',
      summary: 'Read the OpenAPI 3.1 document of this server',
      response: () => z.record(z.string(), z.unknown()).describe('The OpenAPI document.'),
      example: { response: { openapi: '3.1.0' } },
      handler: async ({ parts }) => json(parts),
    }),
    get('/docs', 'health', {
      access: 'public',
      summary: 'Show the reference in a browser',
      mediaType: 'text/html; charset=utf-8',
      response: () => z.string().describe('This page.'),
      example: { response: '<!doctype html>' },
      handler: async ({ parts }) => (await page(parts))(),
    }),
  ];
  const all: readonly Route[] = [...routes, ...own];
  // A server's version and URL never change.
  const document = once(async ({ version, sidecarUrl }: Parts) => {
    const { openApiDocument } = await import('../openapi/document.ts');
    return openApiDocument(all, { version, serverUrl: sidecarUrl });
  });
  const json = once(async (parts: Parts) => new RawJson(JSON.stringify(await document(parts))));
  const page = once(async (parts: Parts) => {
    const { docsPage } = await import('../docs/page.ts');
    return docsPage((await document(parts)) as unknown as Document);
  });
  return own;
}
