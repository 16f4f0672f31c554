import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const textOf = async (path: string) => {
  const answer = await fetch(`${world.baseUrl}${path}`);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.text();
};

test('the texts for language models are plain text that names this sidecar', async () => {
  for (const path of ['/llms.txt', '/llms-full.txt']) {
    const { headers } = await fetch(`${world.baseUrl}${path}`);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(await textOf(path)).toContain(`base URL ${world.baseUrl}.`);
  }
});

test('every link of /llms.txt leads to a page of the sidecar, and to a place on it', async () => {
  const links = [...(await textOf('/llms.txt')).matchAll(/\]\(([^)]*)\)/g)].map(([, it]) => it);
  expect(links.length).toBeGreaterThan(50);
  const places = [...(await textOf('/docs')).matchAll(/\sid="([^"]*)"/g)].map(
    ([, id]) => `${world.baseUrl}/docs#${id}`,
  );
  const pages = ['/docs', '/llms-full.txt', '/v2/openapi.json'].map(
    (path) => `${world.baseUrl}${path}`,
  );
  expect(links.filter((link) => ![...places, ...pages].includes(link ?? ''))).toEqual([]);
});

test('/llms-full.txt is below 60 KiB as it is served (docs/api.md)', async () => {
  expect(Buffer.byteLength(await textOf('/llms-full.txt'))).toBeLessThan(60 * 1024);
});

test('every example of /llms-full.txt does what it says, as it is written', async () => {
  const examples = [...(await textOf('/llms-full.txt')).matchAll(/```sh\n([\s\S]*?)```/g)].map(
    ([, script = '']) => script,
  );
  const { invoice } = await world.post('/sandbox/invoice', { amount: '1000' });
  const mine = await world.post('/v2/node/create_invoice', { amount: '5' });
  await world.post('/sandbox/pay', { payable: mine.invoice });
  const given = { invoice, index: mine.index };
  const answers: Record<string, unknown> = {};
  for (const example of examples) {
    const script = Object.entries(given).reduce(
      (text, [name, value]) => text.replaceAll(`<${name}>`, String(value)),
      example.replaceAll('<uuid>', () => randomUUID()),
    );
    expect(script).not.toMatch(/<\w+>/);
    const child = Bun.spawn(['bash', '-c', script], { stdout: 'pipe', stderr: 'ignore' });
    const answer = (await new Response(child.stdout).json()) as { readonly code?: number };
    expect([example, await child.exited, answer.code]).toEqual([example, 0, undefined]);
    answers[/\/v2\/(?:node\/)?(\w+(?:\/\w+)*)/.exec(example)?.[1] ?? ''] = answer;
  }
  expect(answers).toMatchObject({
    node_info: { balance: expect.any(String) },
    create_invoice: { amount: '1000', description: 'Coffee' },
    wait_for_payment: { index: mine.index, status: 'completed', amount: '5' },
    analyze: { payables: [{ kind: 'invoice', invoice, amount: '1000' }] },
    pay: { status: 'completed', invoice, direction: 'outbound' },
    payment: { index: mine.index },
    get_next_unused_address: { address: expect.stringMatching(/^bcrt1/) },
    updated_payments: {
      payments: expect.arrayContaining([expect.objectContaining({ invoice })]),
      updated_index: expect.any(String),
    },
    create_client: { client_credentials: expect.any(String) },
    'webhooks/endpoints': { secret: expect.stringMatching(/^whsec_/) },
  });
  expect(examples).toHaveLength(Object.keys(answers).length);
});
