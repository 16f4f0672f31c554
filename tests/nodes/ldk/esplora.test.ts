import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Network } from '../../../src/codecs/network.ts';
import { type CheckedEsplora, checkedEsplora } from '../../../src/nodes/ldk/chain/esplora.ts';
import { randomHex } from '../../contracts/node/steps.ts';
import { type EsploraChain, startEsploraChain } from '../../support/esplora-chain.ts';
import { type Lie, type LyingEsplora, startLyingEsplora } from '../../support/lying-esplora.ts';

const HOUR_MS = 3_600_000;
const MAINNET_FIRST = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';
const SIGNET_FIRST = '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6';

let chain: EsploraChain;
let liar: LyingEsplora;
let checked: CheckedEsplora;
let nowMs: number;
let passedMs: number;
let highest: number;
let isFull: boolean;

/** Opens the checks; `url` is what was configured, the liar's address unless given. */
function open(network: Network = 'regtest', url = liar.url): CheckedEsplora {
  return checkedEsplora({
    ...{ url, network, clock: { now: () => nowMs }, elapsedMs: () => passedMs },
    random: (bytes) => new Uint8Array(Buffer.from(randomHex(bytes), 'hex')),
    highest: async () => highest,
    keepHighest: async (height) => {
      if (isFull) throw new Error('no room');
      highest = height;
    },
  });
}

beforeEach(() => {
  [nowMs, passedMs, highest, isFull] = [Date.now(), 0, 0, false];
  chain = startEsploraChain();
  liar = startLyingEsplora(chain.url);
  checked = open();
});
afterEach(async () => {
  await checked.close();
  liar.stop();
  chain.stop();
});

const get = (path: string) => fetch(`${checked.url}/${path}`);
const textOf = async (path: string) => (await get(path)).text();
const only = (path: string, said: () => Response): Lie => {
  return (asked, truth) => (asked === `/${path}` ? said() : truth());
};

describe('an Esplora whose answers are looked at', () => {
  test('says to the node what it says, and nothing to who does not know its address', async () => {
    const hash = await textOf('blocks/tip/hash');
    expect(await textOf(`block-height/${chain.height()}`)).toBe(hash);
    expect((await get(`block/${hash}/header`)).status).toBe(200);
    expect((await get(`block/${hash}/status`)).status).toBe(200);
    expect(await (await get('blocks')).json()).toHaveLength(10);
    expect(await (await get('fee-estimates')).json()).toMatchObject({ 1: 5 });
    expect((await get(`tx/${'ab'.repeat(32)}/raw`)).status).toBe(404);
    const sent = await fetch(`${checked.url}/tx`, { method: 'POST', body: '00' });
    expect([sent.status, await sent.text()]).toEqual([400, expect.stringContaining('RPC error')]);
    expect((await fetch(new URL('/fee-estimates', checked.url))).status).toBe(404);
    expect(checked.problems()).toEqual([]);
  });

  const LIES: readonly (readonly [string, string, Lie, RegExp])[] = [
    [
      'an error',
      'blocks',
      () => new Response('', { status: 500 }),
      /fault of its own \(HTTP 500\)/,
    ],
    [
      'a refusal',
      'blocks',
      () => new Response('', { status: 403 }),
      /refuses requests \(HTTP 403\)/,
    ],
    ['a page for people', 'blocks', () => new Response('<html>'), /not answer as an Esplora does/],
    [
      'a page at another path',
      'fee-estimates',
      () => new Response('', { status: 404 }),
      /such as \/api/,
    ],
    [
      'a redirect',
      'blocks/tip/hash',
      () => Response.redirect('http://127.0.0.1:9/x', 302),
      /sends requests on to http:\/\/127.0.0.1:9\/x \(HTTP 302\)/,
    ],
    [
      'an answer without an end',
      'fee-estimates',
      () => {
        const piece = new Uint8Array(4 * 1024 * 1024);
        return new Response(new ReadableStream({ pull: (to) => to.enqueue(piece) }));
      },
      /too large/,
    ],
    ['no hash', 'blocks/tip/hash', () => new Response('ff'), /not answer as an Esplora does/],
  ];
  test.each(LIES)('keeps %s from the node, and says so until it is over', async (...row) => {
    const [, path, lie, words] = row;
    liar.lie = lie;
    expect((await get(path)).status).toBe(502);
    expect(checked.problems()).toEqual([expect.stringMatching(words)]);
    liar.lie = null;
    expect((await get(path)).status).toBe(200);
    expect(checked.problems()).toEqual([]);
  });

  test('is told of until a minute and a half after it was met last', async () => {
    liar.lie = () => new Response('', { status: 500 });
    await get('blocks');
    passedMs += 89_000;
    expect(checked.problems()).toHaveLength(1);
    passedMs += 2000;
    expect(checked.problems()).toEqual([]);
  });

  test('is left alone for as long as it asks for, when it takes no more requests', async () => {
    let asked = 0;
    liar.lie = () => {
      asked++;
      return new Response('', { status: 429, headers: { 'retry-after': '30' } });
    };
    for (let count = 0; count < 3; count++) expect((await get('blocks')).status).toBe(502);
    expect(asked).toBe(1);
    expect(checked.problems()).toEqual([expect.stringContaining('after 30 seconds')]);
    liar.lie = null;
    const sent = await fetch(`${checked.url}/tx`, { method: 'POST', body: '00' });
    expect(sent.status).toBe(400);
    passedMs += 31_000;
    expect((await get('blocks')).status).toBe(200);
  });

  test('that cannot be reached, or has no valid certificate, is told of', async () => {
    await checked.close();
    const unused = startLyingEsplora(chain.url);
    unused.stop();
    checked = open('regtest', unused.url);
    expect((await get('blocks')).status).toBe(502);
    expect(checked.problems()).toEqual([expect.stringContaining('cannot be reached')]);
    await checked.close();
    const support = `${import.meta.dir}/../../support`;
    const secure = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1', fetch: () => new Response('[]') },
      tls: {
        cert: Bun.file(`${support}/server-cert.pem`),
        key: Bun.file(`${support}/server-key.pem`),
      },
    });
    checked = open('regtest', `https://127.0.0.1:${secure.port}`);
    expect((await get('blocks')).status).toBe(502);
    expect(checked.problems()).toEqual([expect.stringContaining('certificate that is not valid')]);
    await secure.stop(true);
  });

  test('is sent the name and password of its address as a header', async () => {
    await checked.close();
    let header: string | null = null;
    const asking = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      fetch(request) {
        header = request.headers.get('authorization');
        return new Response('{"1":2}');
      },
    });
    checked = open('regtest', `http://me:p%40ss@127.0.0.1:${asking.port}/api`);
    expect((await get('fee-estimates')).status).toBe(200);
    expect(header as string | null).toBe(`Basic ${btoa('me:p@ss')}`);
    await asking.stop(true);
  });

  test('gives no header and no transaction under another name', async () => {
    const hash = await textOf('blocks/tip/hash');
    const before = await textOf(`block-height/${chain.height() - 1}`);
    const other = await textOf(`block/${before}/header`);
    liar.lie = only(`block/${hash}/header`, () => new Response(other));
    expect((await get(`block/${hash}/header`)).status).toBe(502);
    expect(checked.problems()).toEqual([expect.stringContaining('header that is not the one')]);

    const txid = chain.fund('bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 1000n);
    const bytes = await (await get(`tx/${txid}/raw`)).bytes();
    liar.lie = only(`tx/${'ab'.repeat(32)}/raw`, () => new Response(bytes));
    expect((await get(`tx/${'ab'.repeat(32)}/raw`)).status).toBe(502);
    expect(checked.problems()).toContainEqual(
      expect.stringContaining('transaction that is not the one'),
    );
  });

  test('gives fee rates of at most 2000 sats per virtual byte, and says so', async () => {
    liar.lie = only('fee-estimates', () => Response.json({ 1: 1e9, 6: 3, 144: 0 }));
    expect(await (await get('fee-estimates')).json()).toEqual({ 1: 2000, 6: 3, 144: 0 });
    expect(checked.problems()).toEqual([expect.stringContaining('fee rates up to 1000000000')]);
  });
});

describe('the chain of an Esplora', () => {
  const newestAsked = ['blocks/tip/hash', 'blocks'];

  test('of another network is not used', async () => {
    liar.lie = only('block-height/0', () => new Response(MAINNET_FIRST));
    for (const path of newestAsked) expect((await get(path)).status).toBe(502);
    expect(checked.problems()).toEqual([expect.stringContaining('another network than regtest')]);
    expect(highest).toBe(0);
    liar.lie = null;
    for (const path of newestAsked) expect((await get(path)).status).toBe(200);
  });

  const goBackTo = (height: number): Lie => {
    const at = (path: string) => fetch(`${chain.url}${path}`);
    return (path, truth) => {
      if (path === '/blocks/tip/hash') return at(`/block-height/${height}`);
      return path === '/blocks' ? at(`/blocks/${height}`) : truth();
    };
  };

  test('may go back six blocks, and is not used when it goes back further, also after a restart', async () => {
    for (const path of newestAsked) expect((await get(path)).status).toBe(200);
    expect(highest).toBe(110);
    liar.lie = goBackTo(104);
    for (const path of newestAsked) expect((await get(path)).status).toBe(200);
    await checked.close();
    checked = open();
    liar.lie = goBackTo(103);
    for (const path of newestAsked) expect((await get(path)).status).toBe(502);
    expect(checked.problems()).toEqual([
      expect.stringContaining('at block 103, and the LDK node has seen block 110'),
    ]);
    liar.lie = null;
    for (const path of newestAsked) expect((await get(path)).status).toBe(200);
    expect(checked.problems()).toEqual([]);
  });

  test('is used while the disk is full, and what was seen of it is remembered', async () => {
    isFull = true;
    for (const path of newestAsked) expect((await get(path)).status).toBe(200);
    expect([highest, checked.problems()]).toEqual([0, []]);
    liar.lie = goBackTo(103);
    for (const path of newestAsked) expect((await get(path)).status).toBe(502);
  });

  test('that ends now is used whatever height an earlier lie told of', async () => {
    await checked.close();
    checked = open('signet');
    highest = 4_000_000;
    liar.lie = only('block-height/0', () => new Response(SIGNET_FIRST));
    expect((await get('blocks/tip/hash')).status).toBe(200);
    chain.mine(1);
    nowMs += 4 * HOUR_MS;
    expect((await get('blocks/tip/hash')).status).toBe(502);
  });

  test('that has no new block for hours is told of', async () => {
    await checked.close();
    checked = open('signet');
    liar.lie = only('block-height/0', () => new Response(SIGNET_FIRST));
    nowMs += 5.5 * HOUR_MS;
    expect((await get('blocks/tip/hash')).status).toBe(200);
    expect(checked.problems()).toEqual([expect.stringContaining('is 5 hours old')]);
  });
});
