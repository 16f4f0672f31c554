import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startNodeSidecar } from '../interop/node-sidecar.ts';
import type { EsploraChain } from '../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { hasLdkHelper } from '../support/ldk-network.ts';
import { type LdkSidecar, ldkFlags, openLdkSidecar } from '../support/ldk-sidecar.ts';
import { type Lie, type LyingEsplora, startLyingEsplora } from '../support/lying-esplora.ts';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const skipped = !hasLdkHelper();
if (skipped) console.warn('SKIPPED: an Esplora that lies (no helper was built).');

/** What a block's place, a transaction and a list of them say where everything above a height is hidden. */
function hidden(value: Body, height: number): Body {
  if (Array.isArray(value)) return value.map((one) => hidden(one, height));
  if (value.status) return { ...value, status: hidden(value.status, height) };
  if ('in_best_chain' in value) {
    return value.height > height ? { in_best_chain: false, next_best: null } : value;
  }
  return value.block_height > height ? { confirmed: false } : value;
}

/** A server that builds its index anew, and has come to that height. */
function behind(url: string, height: number): Lie {
  return async (path, truth) => {
    if (path === '/blocks/tip/hash') return fetch(`${url}/block-height/${height}`);
    if (path === '/blocks') return fetch(`${url}/blocks/${height}`);
    if (path.endsWith('/merkleblock-proof')) return new Response('', { status: 404 });
    const said = await truth();
    if (!/\/status$|\/txs|\/outspend|^\/tx\/[0-9a-f]+$/.test(path) || !said.ok) return said;
    return Response.json(hidden((await said.json()) as Body, height));
  };
}

type NamedLie = readonly [string, (url: string, height: number) => Lie, RegExp | null];
const SILENCE: NamedLie = [
  'does not answer',
  () => () => new Promise<never>(() => undefined),
  /did not answer in time/,
];
const LIES: readonly NamedLie[] = [
  ['has faults', () => () => new Response('', { status: 500 }), /HTTP 500/],
  ['takes no more requests', () => () => new Response('', { status: 429 }), /HTTP 429/],
  ['serves a page', () => () => new Response('<html>'), /not answer as an Esplora does/],
  [
    'sends answers without a use',
    () => () => new Response('9'.repeat(10 * 1024 * 1024)),
    /not answer as an Esplora does/,
  ],
  ['sends on', () => () => Response.redirect('http://127.0.0.1:9/', 302), /is not followed/],
  [
    'has the chain of another network',
    () => (path, truth) => (path === '/block-height/0' ? new Response('ab'.repeat(32)) : truth()),
    /another network than regtest/,
  ],
  ['builds its index anew', (url, height) => behind(url, height - 30), /until it has caught up/],
  [
    'has lost its transactions',
    () => (path, truth) => {
      if (path.startsWith('/scripthash')) return Response.json([]);
      return path.startsWith('/tx/') ? new Response('', { status: 404 }) : truth();
    },
    null,
  ],
  [
    'tells of absurd fees',
    () => (path, truth) =>
      path === '/fee-estimates' ? Response.json({ 1: 1e9, 144: 1e9 }) : truth(),
    /2000 are used/,
  ],
];

describe.skipIf(skipped)('an LDK node whose Esplora', () => {
  let chain: EsploraChain;
  let liar: LyingEsplora;
  let wallet: LdkSidecar;

  beforeAll(async () => {
    wallet = await openLdkSidecar({
      esploraOf: ({ url }) => {
        liar = startLyingEsplora(url);
        return liar.url;
      },
    });
    chain = wallet.chain;
    // Above what the channel reserves, so that the other side can pay too.
    await expectPaid(80_000_000n);
    const { outside } = wallet;
    await until(async () => (await outside.sendableMsat()) > 10_000_000n, 'it can pay');
    await until(async () => (await wallet.health()) === 'ok', 'nothing is wrong');
  });
  afterAll(async () => {
    await wallet.close();
    liar.stop();
  });

  /** Resolves once the node has looked at the chain, from beginning to end. */
  async function looked(): Promise<void> {
    const before = liar.looks;
    await until(() => liar.looks > before + 6, 'the node has looked at the chain');
  }

  async function expectPaid(amountMsat: bigint): Promise<void> {
    expect((await wallet.pay(amountMsat)).payment).toMatchObject({ status: 'completed' });
  }

  /** Has somebody pay an address of the wallet; returns the payment once it is listed. */
  async function receipt(): Promise<Body> {
    // A test that failed may have left its lie.
    liar.lie = null;
    const { address } = await wallet.sidecar.post('/v2/node/get_next_unused_address');
    const txid = chain.fund(address, 50_000n);
    return until(async () => {
      await wallet.sidecar.put('/v2/node/sync_payments');
      const { payments } = await wallet.sidecar.get('/v2/node/list_payments', {
        filter: 'pending',
      });
      return payments.find((one: Body) => one.txid === txid) as Body | undefined;
    }, 'the receipt is listed');
  }
  const completed = ({ index }: Body) =>
    until(
      async () => (await wallet.payment(index)).status === 'completed',
      'the receipt is completed',
    );

  const READS_ON =
    '%s pays and is paid, says what is wrong, takes nothing for true, and reads on with the truth';
  const readsOn = async (_: string, lie: NamedLie[1], words: NamedLie[2]) => {
    const received = await receipt();
    liar.lie = lie(chain.url, chain.height());
    chain.mine(1);
    if (words) await until(async () => words.test(await wallet.health()), 'health says so');
    else await looked();
    await expectPaid(1_000_000n);
    const own = await wallet.sidecar.post('/v2/node/create_invoice', { amount: '100' });
    expect((await wallet.outside.pays(own.invoice)).state).toBe('completed');
    expect(await wallet.payment(received.index)).toMatchObject({ status: 'pending' });
    expect((await wallet.info()).num_usable_channels).toBe(1);
    if (words) expect(await wallet.health()).toMatch(words);

    liar.lie = null;
    chain.mine(6);
    await completed(received);
    await until(async () => (await wallet.health()) === 'ok', 'health is well again');
    expect((await wallet.info()).num_usable_channels).toBe(1);
    expect(wallet.sidecar.log()).not.toContain('started again');
  };
  test.each(LIES)(READS_ON, readsOn);

  test('loses blocks keeps what they had pending, until others have it', async () => {
    const received = await receipt();
    chain.mine(3);
    await looked();
    chain.reorganize(3);
    await looked();
    expect(await wallet.payment(received.index)).toMatchObject({ status: 'pending' });
    chain.mine(6);
    await completed(received);
    expect((await wallet.info()).num_usable_channels).toBe(1);
  });

  // Both wait for the same limits of two nodes, so they run side by side.
  test.concurrent.each([SILENCE])(READS_ON, readsOn);
  test.concurrent('answers nothing but fee rates opens all the same, is told of, and is read when it answers', async () => {
    const silent = startLyingEsplora(chain.url);
    silent.lie = (path, truth) =>
      path === '/fee-estimates' ? truth() : new Promise<never>(() => undefined);
    const folder = temporaryFolder('lying-esplora');
    const other = await startNodeSidecar(ldkFlags(folder, silent.url));
    const health = async () => (await other.get('/v2/health')).status as string;
    await until(async () => /did not answer in time/.test(await health()), 'health says so');
    expect((await other.get('/v2/node/node_info')).num_channels).toBe(0);
    silent.lie = null;
    await until(async () => (await health()) === 'ok', 'health is well again');
    expect(other.log()).not.toContain('started again');
    await other.close();
    silent.stop();
    removeFolder(folder);
  });
});
