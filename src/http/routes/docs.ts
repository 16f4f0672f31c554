import { z } from 'zod';
import type { Document } from '../docs/document.ts';
import type { Parts } from '../parts.ts';
import { RawJson, type Route, route } from '../route.ts';

/** Returns the routes that serve the documentation of `routes`. */
export function docsRoutes(routes: readonly Route[]): readonly Route[] {
  const own: readonly Route[] = [
    route({
      method: 'get',
      path: '/v2/openapi.json',
      group: 'health',
      access: 'public',
      summary: 'Read the OpenAPI 3.1 document of this server',
      addition: true,
      response: () =>
        z.record(z.string(), z.unknown()).meta({ description: 'The OpenAPI document.' }),
      example: { response: { openapi: '3.1.0' } },
      handler: async ({ parts }) => json(parts),
    }),
    route({
      method: 'get',
      path: '/docs',
      group: 'health',
      access: 'public',
      summary: 'Show the reference in a browser',
      addition: true,
      mediaType: 'text/html; charset=utf-8',
      response: () => z.string().meta({ description: 'This page.' }),
      example: { response: '<!doctype html>' },
      handler: async ({ parts }) => (await page(parts))(),
    }),
  ];
  const all: readonly Route[] = [...routes, ...own];
  const document = madeOnce(async ({ version, sidecarUrl }) => {
    const { openApiDocument } = await import('../openapi/document.ts');
    return openApiDocument(all, { version, serverUrl: sidecarUrl });
  });
  const json = madeOnce(async (parts) => new RawJson(JSON.stringify(await document(parts))));
  const page = madeOnce(async (parts) => {
    const { docsPage } = await import('../docs/page.ts');
    return docsPage((await document(parts)) as unknown as Document);
  });
  return own;
}

/** Returns a function that keeps the result of its first call, because a server's version and URL never change. */
function madeOnce<T extends object>(make: (parts: Parts) => T): (parts: Parts) => T {
  let made: T | null = null;
  return (parts) => {
    made ??= make(parts);
    return made;
  };
}
