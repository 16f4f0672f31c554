import { z } from 'zod';
import type { Document } from '../docs/document.ts';
import { docsPage } from '../docs/page.ts';
import { openApiDocument } from '../openapi/document.ts';
import { type Route, route } from '../route.ts';

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
      response: z.record(z.string(), z.unknown()).meta({ description: 'The OpenAPI document.' }),
      example: { response: { openapi: '3.1.0' } },
      handler: async ({ parts }) => documentOf(parts.version, parts.sidecarUrl),
    }),
    route({
      method: 'get',
      path: '/docs',
      group: 'health',
      access: 'public',
      summary: 'Show the reference in a browser',
      addition: true,
      mediaType: 'text/html; charset=utf-8',
      response: z.string().meta({ description: 'This page.' }),
      example: { response: '<!doctype html>' },
      handler: async ({ parts }) =>
        docsPage(documentOf(parts.version, parts.sidecarUrl) as unknown as Document),
    }),
    route({
      method: 'get',
      path: '/',
      group: 'health',
      access: 'public',
      summary: 'Redirect to the reference',
      addition: true,
      redirectsTo: '/docs',
      response: z.null(),
      example: { response: null },
      handler: async () => new Response(null, { status: 302, headers: { location: '/docs' } }),
    }),
  ];
  const all: readonly Route[] = [...routes, ...own];
  const documentOf = (version: string, serverUrl: string) =>
    openApiDocument(all, { version, serverUrl });
  return own;
}
