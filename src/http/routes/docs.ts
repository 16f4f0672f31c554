import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { Document } from '../docs/document.ts';
import type { TextsForModels } from '../docs/llms.ts';
import type { Parts } from '../parts.ts';
import { get, RawJson, type Route } from '../route.ts';

const TEXT = 'text/plain; charset=utf-8';

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
    textRoute('/llms.txt', 'Read what there is, for language models, with links', 'short'),
    textRoute('/llms-full.txt', 'Read the reference for language models, in one file', 'full'),
  ];
  const all: readonly Route[] = [...routes, ...own];
  // A server's version and URL never change.
  const document = once(async ({ version, sidecarUrl }: Parts) => {
    const { openApiDocument } = await import('../openapi/document.ts');
    return openApiDocument(all, { version, serverUrl: sidecarUrl });
  });
  const json = once(async (parts: Parts) => new RawJson(JSON.stringify(await document(parts))));
  const texts = once(async (parts: Parts) => {
    const { textsForModels } = await import('../docs/llms.ts');
    return textsForModels((await document(parts)) as unknown as Document);
  });
  function textRoute(path: `/${string}`, summary: string, which: keyof TextsForModels): Route {
    return get(path, 'health', {
      access: 'public',
      summary,
      mediaType: TEXT,
      response: () => z.string().describe('Markdown (llmstxt.org).'),
      example: { response: '# Wallet Sidecar' },
      handler: async ({ parts }) =>
        new Response((await texts(parts))[which], {
          headers: { 'content-type': TEXT, 'x-content-type-options': 'nosniff' },
        }),
    });
  }
  const page = once(async (parts: Parts) => {
    const { docsPage } = await import('../docs/page.ts');
    return docsPage((await document(parts)) as unknown as Document);
  });
  return own;
}
