import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CALLS, exampleSidecar, nameOf, routes } from '../../tools/cli-calls.ts';
import { cliJsonPage } from '../../tools/generate-cli-json.ts';
import { ROOT } from '../support/binary.ts';
import { commandsOf, documentedProgram } from '../support/program.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The endpoints without a command of their own, and why. */
const NO_COMMAND: Readonly<Record<string, string>> = {
  'post /v2/node/pay_invoice': '`pay` pays every string',
  'post /v2/node/pay_offer': '`pay` pays every string',
  'post /v2/node/pay_lnurl': '`pay` pays every string',
  'post /v2/node/verify_payer_proof': '`proof verify` checks in its own process',
  'post /v2/webhooks/endpoints/renew': '`listen` renews its own endpoint',
  'post /v2/node/fetch': 'for programs that go on with the answer',
  'post /v2/node/create_paywall': 'for web services',
  'post /v2/node/verify_paywall': 'for web services',
  'get /v2/openapi.json': 'for programs',
  'get /v2/console/about': 'for the page of the console',
  'get /v2/console/devices': 'for the page of the console',
  'post /v2/console/device_link': 'for the page of the console',
  'post /v2/console/end_device': 'for the page of the console',
  'post /v2/console/link_wallet': 'for the page of the console',
  'post /v2/console/session': 'for the page of the console',
  'post /v2/console/sign_out': 'for the page of the console',
  'get /console': 'for browsers',
  'get /console/:file': 'for browsers',
  'get /v2/node/approval': 'approve shows it on a terminal, before it asks',
  'get /docs': 'for browsers',
  'get /llms.txt': 'for language models',
  'get /llms-full.txt': 'for language models',
  'get /': 'for browsers',
  'get /metrics': 'for Prometheus',
  'get /v2/leader': 'for proxies',
  'get /sandbox/lnurl/:name': 'for wallets that pay the service',
  'get /sandbox/lnurl/:name/callback': 'for wallets that pay the service',
  'get /.well-known/lnurlp/:name': 'for wallets that pay the name',
  'get /.well-known/lnurlp/:name/callback': 'for wallets that pay the name',
};

/** Answers each endpoint with the example of its documentation. */
let server: Bun.Server<undefined>;
const asked: string[] = [];
beforeAll(() => {
  server = exampleSidecar((endpoint) => void asked.push(endpoint));
});
afterAll(() => server.stop(true));

describe('every endpoint of the route table', () => {
  test('has a command, or a reason to have none', () => {
    const named = [...Object.keys(CALLS), ...Object.keys(NO_COMMAND)];
    expect(routes.map(nameOf).toSorted()).toEqual(named.toSorted());
  });

  for (const [endpoint, words] of Object.entries(CALLS)) {
    test(`${endpoint} is called by ${words.slice(0, 2).join(' ')}`, async () => {
      const before = asked.length;
      const env = { SERVICE_SIDECAR_URL: `http://127.0.0.1:${server.port}` };
      const { exitCode, stderr } = await runBinary(words, env);
      expect(asked.slice(before)).toContain(endpoint);
      // The stream of events has no end but an error.
      expect({ exitCode, stderr }).toEqual(
        words[0] === 'events'
          ? { exitCode: 1, stderr: expect.stringContaining('Ended') }
          : { exitCode: 0, stderr: expect.any(String) },
      );
    });
  }
});

test('every request that moves money takes --idempotency-key, and every cost can be bounded or agreed on', async () => {
  const commands = commandsOf(await documentedProgram());
  const flagsOf = (words: readonly string[]) =>
    commands
      .findLast(({ path }) => path.every((word, depth) => words[depth] === word))
      ?.command.options.map(({ long }) => long);
  const moving = routes
    .filter(({ movesMoney }) => movesMoney === true)
    .map((route) => CALLS[nameOf(route)] ?? [])
    .filter((words) => words.length > 0);
  expect(moving.length).toBeGreaterThan(5);
  for (const words of moving) {
    expect(flagsOf(words)).toContain('--idempotency-key');
    if (words[0] !== 'withdraw') expect(flagsOf(words)).toContain('--yes');
  }
});

test('the page of what --json prints is made of the examples, and has every command', async () => {
  const page = await cliJsonPage();
  expect(readFileSync(join(ROOT, 'docs/cli-json.md'), 'utf8')).toBe(page);
  const shown = [...page.matchAll(/^### `(.+)`$/gm)].map(([, words = '']) => words.split(' '));
  for (const { path, command } of commandsOf(await documentedProgram())) {
    if (command.commands.length > 0 || ['serve', 'mcp'].includes(path[0] ?? '')) continue;
    const has = shown.some((words) => path.every((word, depth) => words[depth] === word));
    expect({ path, has }).toEqual({ path, has: true });
  }
  for (const [, text = ''] of page.matchAll(/^```json\n([\s\S]*?)\n```$/gm)) {
    for (const line of text.split('\n')) expect(JSON.parse(line)).toBeObject();
  }
});
