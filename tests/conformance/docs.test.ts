import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { rawStatus } from './raw-status.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const open = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${world.baseUrl}${path}`, { redirect: 'manual', headers });

describe('a browser at the address of the sidecar', () => {
  test('is led from / to the console', async () => {
    const answer = await open('/');
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe('/console');
    const page = await open('/console');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('finds the reference at /docs', async () => {
    const page = await open('/docs');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toContain('A first payment');
  });

  test('is led to the reference with a slash at its end, too, and to nothing else', async () => {
    const answer = await open('/docs/');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs']);
    for (const path of ['/docs/x', '/v2/health/', '/v2/openapi.json/'])
      expect([path, (await open(path)).status]).toEqual([path, 404]);
    const posted = await fetch(`${world.baseUrl}/docs/`, { method: 'POST' });
    expect(posted.status).toBe(404);
  });

  test('is held to the same guards there as everywhere', async () => {
    for (const path of [
      '/',
      '/docs',
      '/docs/',
      '/llms.txt',
      '/llms-full.txt',
      '/console',
      '/console/',
    ]) {
      expect(await rawStatus(world.port, 'GET', path, { host: 'evil.example' })).toBe(403);
      expect((await open(path, { origin: 'https://evil.example' })).status).toBe(403);
    }
    const posted = await fetch(`${world.baseUrl}/`, { method: 'POST' });
    expect(posted.status).toBe(405);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });
});
