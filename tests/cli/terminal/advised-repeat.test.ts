import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { BARE_ENV, startOnTerminal } from '../../support/binary.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { type CliWorld, openCliWorld, runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** A request that moves money, as it arrived. */
interface Sent {
  readonly path: string;
  readonly key: string;
  readonly body: unknown;
}

let world: CliWorld;
/** Stands before the sidecar. It records requests that move money, and gives them an answer that cannot be read. */
let before: ReturnType<typeof Bun.serve>;
const sent: Sent[] = [];
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  world = await openCliWorld();
  before = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname: path, search } = new URL(request.url);
      const key = request.headers.get('idempotency-key');
      if (key === null) return fetch(`${world.baseUrl}${path}${search}`);
      sent.push({ path, key, body: await request.json() });
      return new Response('no JSON');
    },
  });
  env = { ...BARE_ENV, SERVICE_SIDECAR_URL: `http://127.0.0.1:${before.port}` };
});
afterAll(async () => {
  await before.stop(true);
  await world.close();
});

const node = `02${'a1'.repeat(32)}`;
const invoice = async () =>
  (await world.api('POST', '/sandbox/invoice', { amount: '1000' })).invoice as string;
const offer = async () => (await world.api('POST', '/sandbox/offer', {})).offer as string;
const address = async () =>
  (await world.api('POST', '/v2/node/get_next_unused_address', {}, world.bob)).address as string;

for (const [name, words] of [
  ['keysend', () => ['keysend', node, '2000']],
  ['keysend with --max-fee', () => ['keysend', node, '2000', '--max-fee', '5']],
  ['pay', async () => ['pay', await invoice()]],
  ['pay with --max-fee', async () => ['pay', await invoice(), '--max-fee', '5']],
  ['pay with an amount after the string', async () => ['pay', await offer(), '12']],
  ['pay with --amount', async () => ['pay', await offer(), '--amount', '12']],
  ['pay on chain', async () => ['pay', `bitcoin:${await address()}?amount=0.0002`]],
  ['pay with --all', async () => ['pay', await address(), '--all', '--max-fee', '500']],
] as const) {
  test(`the words that advise a repeat of ${name} make the same request`, async () => {
    sent.length = 0;
    const command = await words();
    const first = startOnTerminal(command, { columns: 100, env });
    await first.shows('[y/N]');
    first.type('y\n');
    expect(await first.exit()).toBe(1);
    const [, advised] =
      /run the same command with (.+) to get its result/.exec(first.screen()) ?? [];
    const again = await runBinary([...command, ...(advised?.split(' ') ?? [])], env);
    expect(again).toMatchObject({ exitCode: 1, stdout: '' });
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0] as Sent);
  });
}
