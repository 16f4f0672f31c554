import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { SpendWatch } from '../../../src/nodes/lnd/follow/spends.ts';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { refusal, scriptedLnd } from './scripted-lnd.ts';

setDefaultTimeout(SLOW_TEST_MS);

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
let stop = new AbortController();
beforeEach(() => {
  lnd.reset();
  stop = new AbortController();
});
afterEach(() => stop.abort());

const PATH = '/v2/chainnotifier/register/spends';
const COIN = `${'0a'.repeat(32)}:1`;
const SPENDER = '0b'.repeat(32);
const REPORT = {
  spend: { spending_tx_hash: Buffer.alloc(32, 0x0b).toString('base64'), spending_height: 100 },
};

function watch(): SpendWatch {
  return new SpendWatch(
    new LndRest({
      endpoint: new RemoteEndpoint({ url: lnd.url, cert: lnd.cert }),
      token: () => null,
    }),
    stop.signal,
    () => undefined,
  );
}

/** Lets LND answer with streams that stay open, and returns what says one more item on the newest. */
function speaking() {
  let newest: ReadableStreamDefaultController | null = null;
  lnd.on(`POST ${PATH}`, () => {
    return new Response(
      new ReadableStream({
        start(controller) {
          newest = controller;
        },
      }),
    );
  });
  const opened = () => until(() => newest !== null && newest, 'the stream was asked for');
  return {
    say: async (item: object) =>
      (await opened()).enqueue(new TextEncoder().encode(`${JSON.stringify({ result: item })}\n`)),
    end: async () => {
      (await opened()).close();
      newest = null;
    },
  };
}

test('LND is asked for a coin once, from a height at which it was unspent', async () => {
  speaking();
  const spends = watch();
  spends.follow([COIN], 90);
  spends.follow([COIN], 95);
  await until(() => lnd.requests.length > 0, 'it asked');
  expect(lnd.requests.map(({ path, body }) => [path, body])).toEqual([
    [
      PATH,
      {
        outpoint: { hash: Buffer.alloc(32, 0x0a).toString('base64'), index: 1 },
        script: expect.any(String),
        height_hint: 90,
      },
    ],
  ]);
});

test('a reported spender has the confirmations of its height, until the report is taken back', async () => {
  const { say } = speaking();
  const spends = watch();
  spends.follow([COIN], 90);
  await say(REPORT);
  await until(() => spends.spenders(100).length > 0, 'the spender was reported');
  const confirmations = (height: number) =>
    spends
      .spenders(height)
      .map(({ tx_hash, num_confirmations, previous_outpoints }) => [
        tx_hash,
        num_confirmations,
        previous_outpoints.map(({ outpoint }) => outpoint),
      ]);
  expect(confirmations(100)).toEqual([[SPENDER, 1, [COIN]]]);
  expect(confirmations(105)).toEqual([[SPENDER, 6, [COIN]]]);
  await say({ reorg: {} });
  await until(() => spends.spenders(105).length === 0, 'the report was taken back');
});

test('a stream that broke says nothing any more, and is opened again by the next look', async () => {
  const { say, end } = speaking();
  const spends = watch();
  spends.follow([COIN], 90);
  await say(REPORT);
  await until(() => spends.spenders(100).length > 0, 'the spender was reported');
  await end();
  await until(() => spends.spenders(100).length === 0, 'the stream broke');
  spends.follow([COIN], 90);
  await say(REPORT);
  await until(() => spends.spenders(100).length > 0, 'the spender was reported again');
});

test('a coin that is not wanted any more is not reported', async () => {
  const { say } = speaking();
  const spends = watch();
  spends.follow([COIN], 90);
  await say(REPORT);
  await until(() => spends.spenders(100).length > 0, 'the spender was reported');
  spends.follow([], 90);
  expect(spends.spenders(100)).toEqual([]);
});

test('LND is asked for at most 64 coins', async () => {
  speaking();
  const coins = Array.from({ length: 70 }, (_, index) => `${'0a'.repeat(32)}:${index}`);
  watch().follow(coins, 90);
  await until(() => lnd.requests.length === 64, 'it asked for 64');
  const asked = lnd.requests.map(({ body }) => (body.outpoint as { index: number }).index);
  expect(Math.max(...asked)).toBe(63);
});

for (const [why, answer] of [
  ['was built without it', () => refusal(404, 5, 'Not Found')],
  ['may not be asked with this macaroon', () => refusal(500, 2, 'permission denied')],
] as const) {
  test(`an LND that ${why} is not asked again`, async () => {
    let answered = 0;
    lnd.on(`POST ${PATH}`, () => {
      answered += 1;
      return answer();
    });
    const spends = watch();
    spends.follow([COIN], 90);
    await until(() => spends.isOffered === false, 'the refusal was read');
    spends.follow([COIN], 90);
    expect([answered, spends.spenders(100)]).toEqual([1, []]);
  });
}
