import { describe, expect, test } from 'bun:test';
import type { Document } from '../../src/http/docs/document.ts';
import { textsForModels } from '../../src/http/docs/llms.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { CALLING } from '../../src/http/openapi/words.ts';
import { consoleRoutes } from '../../src/http/routes/console.ts';
import { docsRoutes } from '../../src/http/routes/docs.ts';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { metricsRoutes } from '../../src/http/routes/metrics.ts';
import { ERRORS } from '../../src/model/errors.ts';

const served = [...ROUTES, ...SANDBOX_ROUTES, ...consoleRoutes([]), ...metricsRoutes];
const routes = [...served, ...docsRoutes(served)];
const document = openApiDocument(routes, {
  version: '1.2.3',
  serverUrl: 'http://127.0.0.1:5393',
}) as unknown as Document;
const { short, full } = textsForModels(document);
const calls = routes.map(
  ({ method, path }) => `${method.toUpperCase()} ${path.replace(/:(\w+)/g, '{$1}')}`,
);

test('both begin with a title and a summary that says where the sidecar is (llmstxt.org)', () => {
  for (const text of [short, full]) {
    expect(text).toStartWith('# Wallet Sidecar\n\n> A local HTTP API');
    expect(text.split('\n')[2]).toContain('Version 1.2.3, base URL http://127.0.0.1:5393.');
    expect(text.match(/^# /gm)).toHaveLength(1);
    expect(text).not.toMatch(/<\/|<\w+ \w+=|&#|undefined|\[object|\n\n\n/);
  }
});

describe('/llms.txt', () => {
  test('links to every operation, and has nothing but titles, words and links', () => {
    for (const call of calls) expect(short).toContain(`- [${call}](http://127.0.0.1:5393/docs#`);
    const [, ...sections] = short.split(/^## /m);
    for (const section of sections) expect(section).toMatch(/^[\w ]+\n\n(?:.+\n\n)?(?:- \[.+\n)+/);
    expect(short).toContain('(http://127.0.0.1:5393/llms-full.txt)');
  });
});

describe('/llms-full.txt', () => {
  test('is small enough to be read as a whole', () => {
    expect(Buffer.byteLength(full)).toBeLessThan(60 * 1024);
  });

  test('says how to call, with the words of the reference, and what every error code means', () => {
    for (const [title, words] of CALLING) expect(full).toContain(`### ${title}\n\n${words}`);
    for (const word of ['pending', 'unknown', 'Idempotency-Key', 'Bearer', 'data.sent'])
      expect(CALLING.join(' ')).toContain(word);
    for (const { code, meaning } of Object.values(ERRORS))
      expect(full).toMatch(new RegExp(`^- ${code} .*${RegExp.escape(meaning)}$`, 'm'));
  });

  test('shows ten calls with an example', () => {
    const [, first = ''] = /^## First calls$(.*?)^## /ms.exec(full) ?? [];
    expect(first.match(/^```sh$/gm)).toHaveLength(10);
    expect(first.match(/^Answer: `/gm)).toHaveLength(10);
  });

  test('has every operation with every field of its request, except those of browsers, wallets and proxies', () => {
    const isForOthers = (path: string) =>
      path.includes('console') ||
      path.includes('{') ||
      ['/', '/docs', '/v2/leader', '/llms.txt', '/llms-full.txt'].includes(path);
    for (const call of calls) {
      const has = full.includes(`\n### ${call}\n`);
      expect([call, has]).toEqual([call, !isForOthers(call.split(' ')[1] ?? '')]);
    }
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
        if (isForOthers(path)) continue;
        const start = full.indexOf(`\n### ${method.toUpperCase()} ${path}\n`);
        const section = full.slice(start, full.indexOf('\n### ', start + 1));
        const names = [
          ...parameters.filter((one) => one.in === 'query').map(({ name }) => name),
          ...Object.keys(requestBody?.content['application/json']?.schema.properties ?? {}),
        ];
        const missing = names.filter((name) => !section.includes(`\n- \`${name}\` `));
        expect([method, path, missing]).toEqual([method, path, []]);
      }
    }
  });

  test('has every resource with its fields, and a list of words once', () => {
    for (const [name, { enum: words }] of Object.entries(document.components.schemas))
      if (!words) expect(full).toContain(`\n### ${name}\n`);
    for (const name of Object.keys(document.components.schemas.Payment?.properties ?? {}))
      expect(full.slice(full.indexOf('\n### Payment\n'))).toContain(`\n- \`${name}\` `);
    expect(full.split('`list_broadcasted_txs`, `get_next_unused_address`')).toHaveLength(2);
  });

  test('names a field by the operation that describes it with the same words', () => {
    const references = [...full.matchAll(/^- (`\w+`).*: as in (\w+)$/gm)];
    expect(references.length).toBeGreaterThan(10);
    for (const [, field = '', name = ''] of references)
      expect(full).toMatch(
        new RegExp(`^### \\w+ \\S*/${name}$(?:(?!^### )[^])*^- ${field} .*: (?!as in )`, 'm'),
      );
  });
});
