import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Command } from 'commander';
import packageJson from '../../package.json';
import { loadConfig } from '../../src/config/config.ts';
import { OPTIONS, type OptionSpec } from '../../src/config/options.ts';
import type { Document } from '../../src/http/docs/document.ts';
import { docsPage } from '../../src/http/docs/page.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { tagOf } from '../../src/http/openapi/words.ts';
import { consoleRoutes } from '../../src/http/routes/console.ts';
import { docsRoutes } from '../../src/http/routes/docs.ts';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { metricsRoutes } from '../../src/http/routes/metrics.ts';
import { SCOPES } from '../../src/model/clients/permissions.ts';
import { ERRORS } from '../../src/model/errors.ts';
import { paymentJson } from '../../src/model/payment.ts';
import { remoteNodes } from '../../src/nodes/kinds.ts';
import { envExample } from '../../tools/generate-env-example.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { codeIn, pageText, rowsOf, sectionOf } from '../support/pages.ts';
import { documentedProgram } from '../support/program.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { ROOT } from './folder.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('documents');
afterAll(() => removeFolder(folder));

const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
const options: readonly OptionSpec[] = Object.values(OPTIONS);
const served = [...ROUTES, ...SANDBOX_ROUTES, ...consoleRoutes([]), ...metricsRoutes];
const routes = [...served, ...docsRoutes(served)];
const settings = rowsOf('docs/configuration.md', 'Settings');

describe('.env.example', () => {
  test('is what `npm run generate` writes', () => {
    expect(example).toBe(envExample());
  });

  test('changes nothing when it is copied as it is', () => {
    const defaults = loadConfig({ flags: {}, env: {}, cwd: folder });
    const file = join(folder, '.env');
    copyFileSync(join(ROOT, '.env.example'), file);
    chmodSync(file, 0o600);
    expect(loadConfig({ flags: {}, env: {}, cwd: folder })).toEqual({
      ...defaults,
      notes: [`Settings are read from ${file}.`],
    });
  });

  test('names every setting once, and takes effect where the # is taken away', () => {
    const all = parseEnv(example.replace(/^# (SERVICE_\w+=)/gm, '$1'));
    expect(Object.keys(all)).toEqual(options.map(({ env }) => env));
    const one = example.replace(/^# (SERVICE_LOG_LEVEL=).*$/m, '$1debug');
    writeFileSync(join(folder, '.env'), one);
    expect(loadConfig({ flags: {}, env: {}, cwd: folder }).logLevel).toBe('debug');
  });
});

test('the README has a row for each kind of node', async () => {
  const rows = rowsOf('README.md', 'Nodes');
  const told = rows.map(([kind = '']) => kind.replace(/^\[(.*)\]\(.*\)$/, '$1'));
  const kinds = Object.values(await remoteNodes());
  expect(told).toEqual(['sandbox', ...kinds.map(({ title }) => title), 'LDK']);
});

describe('the pages', () => {
  test('name the flag and the variable of every option side by side, and no others', () => {
    const pairs = settings.flatMap(([flags, variables]) => {
      const names = codeIn(variables);
      return codeIn(flags).map((flag, i) => `${flag} ${names[i] ?? ''}`);
    });
    expect(pairs).toEqual(options.map(({ flag, env }) => `--${flag} ${env}`));
  });

  test('give the default of every option that has a value for one', () => {
    for (const { flag, fallback } of options.filter((option) => !option.fallback.includes(' '))) {
      const [, , shown = ''] =
        settings.find(([flags]) => codeIn(flags).includes(`--${flag}`)) ?? [];
      expect([flag, shown.replaceAll('`', '')]).toEqual([flag, expect.stringContaining(fallback)]);
    }
  });

  test('name every endpoint with its method under its group, and no others', () => {
    const named = sectionOf('docs/api.md', 'Endpoints')
      .split(/^### /m)
      .slice(1)
      .flatMap((text) => {
        const [group = ''] = text.split('\n', 1);
        return [...text.matchAll(/^\| `(\w+) ([^`]+)` \|/gm)].map(([, method, name = '']) => {
          const path = name.startsWith('/') ? name : `/v2/node/${name}`;
          return `${group} ${method} ${path}`;
        });
      });
    const expected = routes.map(
      ({ group, method, path }) => `${group} ${method.toUpperCase()} ${path}`,
    );
    expect(named.toSorted()).toEqual(expected.toSorted());
  });

  test('give the code and status of every error, and no others', () => {
    const named = rowsOf('docs/api.md', 'Errors').map(([code, status]) => `${code} ${status}`);
    expect(named).toEqual(
      Object.values(ERRORS).map(({ code, httpStatus }) => `${code} ${httpStatus}`),
    );
  });

  test('give every scope with its permissions', () => {
    const named = rowsOf('docs/credentials.md', 'Scopes').map(([scope, permissions]) => [
      codeIn(scope)[0],
      permissions,
    ]);
    const expected = Object.entries(SCOPES).map(([scope, permissions]) => [
      scope,
      scope === 'full' ? 'all of the above' : permissions.join(', '),
    ]);
    expect(named).toEqual(expected);
  });

  test('say of every field of a payment what it means', () => {
    const named = rowsOf('docs/api.md', 'Payment').flatMap(([fields]) => codeIn(fields));
    expect(named.toSorted()).toEqual(Object.keys(paymentJson().shape).toSorted());
  });

  test('name every command with its subcommands, and no others', async () => {
    const program = await documentedProgram();
    const named = rowsOf('docs/cli.md', 'Commands').flatMap(([cell]) => codeIn(cell));
    expect(named.toSorted()).toEqual(program.commands.flatMap(wordsOf).toSorted());
  });

  test('say what changed in this version and since, what breaks first', () => {
    const versions = pageText('CHANGELOG.md').split(/^## /m).slice(1);
    const [newest, ...released] = versions.map((text) => text.split('\n', 1)[0] ?? '');
    expect(newest).toBe('[Unreleased]');
    expect(released[0]).toStartWith(`[${packageJson.version}] `);
    for (const heading of released) {
      expect(heading).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/);
    }
    for (const text of versions) {
      const parts = [...text.matchAll(/^### (.+)$/gm)].map(([, part = '']) => part);
      const order = ['Compatibility', 'Added', 'Changed', 'Fixed', 'Security'];
      expect(parts).toEqual(order.filter((part) => parts.includes(part)));
    }
  });
});

function wordsOf(command: Command): string[] {
  const children = command.commands.map((child) => `${command.name()} ${child.name()}`);
  return children.length > 0 ? children : [command.name()];
}

describe('the reference', () => {
  const document = openApiDocument(routes, {
    version: '0',
    serverUrl: 'http://127.0.0.1:5393',
  }) as unknown as Document;

  test('says of every group of endpoints what it is for', () => {
    const { tags } = document;
    const groups = [...new Set(routes.map(({ group }) => tagOf(group)))];
    expect(tags).toEqual(
      groups.map((name) => ({ name, description: expect.stringMatching(/^[A-Z].*\.$/) })),
    );
  });

  test('loads nothing, runs nothing but its own filter, and leads only to what is on it and to this server', async () => {
    const html = await docsPage(document)().text();
    expect(html).not.toMatch(/<(?:img|link|iframe|object|embed|form|base)\b|@import|url\(/i);
    expect(html.match(/<script\b[^>]*>/gi)).toEqual(['<script>']);
    expect(html).not.toMatch(
      /\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|import|sendBeacon)\(/,
    );
    expect(html).not.toMatch(/\s(?:src|srcset|on\w+|style)=/i);
    const targets = [...html.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target);
    const anchors = new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => `#${id}`));
    const away = targets.filter((target) => !anchors.has(target));
    expect([...new Set(away)]).toEqual(['/v2/openapi.json', '/llms.txt', '/llms-full.txt']);
    expect(targets.length).toBeGreaterThan(routes.length);
  });

  test('has each place once, and shows the groups in the order of its contents', async () => {
    const html = await docsPage(document)().text();
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => `#${id}`);
    expect(new Set(ids).size).toBe(ids.length);
    const [contents = ''] = html.split('</nav>');
    const linked = [...contents.matchAll(/href="(#[^"]*)"/g)].map(([, target]) => target);
    expect(linked).toEqual(ids);
  });
});
