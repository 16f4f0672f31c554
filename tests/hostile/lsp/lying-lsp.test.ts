import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { nodeSeed } from '../../../src/nodes/ldk/process/node-seed.ts';
import type { CreatedInvoice, WalletNode } from '../../../src/nodes/node.ts';
import { ended, invoiceCommand, randomHex } from '../../contracts/node/steps.ts';
import { hasLdkHelper } from '../../support/ldk-network.ts';
import { type LspWorld, openLspWorld } from '../../support/lsp-world.ts';
import { rejection } from '../../support/rejection.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../../support/until.ts';
import { type LspsLies, lspsLie, neverForwards } from './lies.ts';
import { type LspRelay, nodeSecret, startLspRelay, TRUTH } from './relay.ts';

setDefaultTimeout(SLOW_TEST_MS);

const skipped = !hasLdkHelper();
if (skipped) console.warn('SKIPPED: an LSP that lies (no helper was built).');

const AMOUNT_MSAT = 200_000_000n;
/** What the LSP takes for a channel for that: a hundredth. */
const FEE_MSAT = 2_000_000n;
const MAX_FEE_MSAT = 5_000_000n;
/** How long the payer's payment may take to come back, milliseconds. */
const GIVEN_BACK_MS = 30_000;

type Answered = NonNullable<LspsLies['answered']>;

interface Fees {
  readonly opening_fee_params_menu: readonly Readonly<Record<string, unknown>>[];
}

/** Another menu in the place of the LSP's. */
function menu(change: Readonly<Record<string, unknown>>): Answered {
  return {
    'lsps2.get_info': (result) => ({
      result: {
        opening_fee_params_menu: (result as unknown as Fees).opening_fee_params_menu.map((one) => ({
          ...one,
          ...change,
        })),
      },
    }),
  };
}

/** What the LSP sells is changed after the wallet has chosen. */
const sold = (change: Readonly<Record<string, unknown>>): Answered => ({
  'lsps2.buy': (result) => ({ result: { ...result, ...change } }),
});

const both = (said: Readonly<Record<string, unknown>> | string | null): Answered => ({
  'lsps2.get_info': () => said,
});

describe.skipIf(skipped)('an LDK node whose LSP', () => {
  const seed = randomHex(64);
  const relays: LspRelay[] = [];
  let world: LspWorld;

  beforeAll(async () => {
    world = await openLspWorld('esplora', seed);
  });
  afterAll(async () => {
    for (const relay of relays) relay.stop();
    await world.close();
  });

  /** A wallet without a coin, and what stands between it and the LSP. */
  const openWallet = async () => {
    const rootSeed = new Uint8Array(Buffer.from(randomHex(32), 'hex'));
    const relay = await startLspRelay({
      ...{ secret: nodeSecret(Buffer.from(seed, 'hex')), pk: world.lsp.nodePk },
      address: world.lsp.address,
      walletSecret: nodeSecret(nodeSeed(rootSeed, 'regtest')),
    });
    relays.push(relay);
    const opened = { maxFeeMsat: MAX_FEE_MSAT, host: relay.address, rootSeed };
    return { relay, ...(await world.openWallet(opened)) };
  };
  const invoiceOf = (node: WalletNode, amountMsat = AMOUNT_MSAT) =>
    node.createInvoice(invoiceCommand(node, { amountMsat }));
  const stateOf = async (node: WalletNode, made: CreatedInvoice) =>
    (await node.payment(made.payment.index))?.payment.status;
  /**
   * Pays an invoice, of which nothing arrives, and which can still be canceled. Returns what became of it at the payer,
   * which an LSP may let wait.
   */
  const expectNothingMoved = async (node: WalletNode, made: CreatedInvoice) => {
    const { state } = await world.payer.pays(made.invoice, GIVEN_BACK_MS);
    expect(state).not.toBe('completed');
    expect(await stateOf(node, made)).toBe('pending');
    expect((await node.info()).lightningBalanceMsat).toBe(0n);
    await node.cancelInvoice(made.payment.index);
    expect((await ended(node, made.paymentHash)).payment.status).toBe('failed');
    return state;
  };

  test('tells the truth through the relay is paid as without it', async () => {
    const { node } = await openWallet();
    const made = await invoiceOf(node);
    expect(made.lspFeeMsat).toBe(FEE_MSAT);
    expect((await world.payer.pays(made.invoice, GIVEN_BACK_MS)).state).toBe('completed');
    const { payment } = await ended(node, made.paymentHash);
    expect(payment).toMatchObject({ status: 'completed', feesMsat: FEE_MSAT });
  });

  test.each<readonly [string, Answered, object]>([
    [
      'asks for more than the bound',
      menu({ min_fee_msat: '5000001' }),
      {
        kind: 'refused',
        message: 'The LSP asks for 5001 sats for this channel, more than --max-lsp-fee.',
      },
    ],
    [
      'asks for more than there is',
      menu({ min_fee_msat: `${2n ** 64n - 1n}`, proportional: 2 ** 32 - 1 }),
      { kind: 'refused', message: expect.stringContaining('more than --max-lsp-fee') },
    ],
    ['sells no such amount', menu({ max_payment_size_msat: '1000' }), { kind: 'unreachable' }],
    [
      'has nothing to sell',
      both({ result: { opening_fee_params_menu: [] } }),
      { kind: 'unreachable' },
    ],
    ['does not answer', both(null), { kind: 'unreachable' }],
    ['answers with an error', both({ error: { code: 1, message: 'x' } }), { kind: 'unreachable' }],
    ['answers with something else', both({ result: { x: 'y' } }), { kind: 'unreachable' }],
    ['answers with no JSON', both('garbage'), { kind: 'unreachable' }],
    ['answers at length', both(`"${'9'.repeat(60_000)}"`), { kind: 'unreachable' }],
    [
      'has other fees when the channel is bought',
      { 'lsps2.buy': () => ({ error: { code: 201, message: 'invalid opening fee params' } }) },
      { kind: 'unreachable' },
    ],
    [
      'sells a place that cannot be read',
      sold({ jit_channel_scid: 'here' }),
      { kind: 'unreachable' },
    ],
  ])(
    '%s: no invoice is made, the error says why, and the next order on another connection is served',
    async (_, answered, error) => {
      const { relay, node } = await openWallet();
      relay.lie = lspsLie({ answered });
      expect(await rejection(invoiceOf(node))).toMatchObject({ outcomeUnknown: false, ...error });
      relay.lie = TRUTH;
      // LDK does not listen to an LSP that sent what it cannot read, until that connects anew.
      relay.cut();
      const made = await waitUntil('the next is made', () => invoiceOf(node));
      expect(made.lspFeeMsat).toBe(FEE_MSAT);
    },
  );

  test('takes more than it promised: the payment is given back, and nothing is lost', async () => {
    const { relay, node } = await openWallet();
    let offered: unknown;
    relay.lie = lspsLie({
      answered: {
        'lsps2.get_info': (result) => {
          const list = (result as unknown as Fees).opening_fee_params_menu;
          offered = list[0];
          return { result: { opening_fee_params_menu: [{ ...list[0], proportional: 5000 }] } };
        },
      },
      asked: { 'lsps2.buy': (params) => ({ ...params, opening_fee_params: offered }) },
    });
    const made = await invoiceOf(node);
    expect(made.lspFeeMsat).toBe(FEE_MSAT / 2n);
    expect(await expectNothingMoved(node, made)).toBe('failed');
  });

  test("names another channel's place: nothing arrives, and nothing is lost", async () => {
    const { relay, node } = await openWallet();
    relay.lie = lspsLie({ answered: sold({ jit_channel_scid: '100x1x0' }) });
    await expectNothingMoved(node, await invoiceOf(node));
  });

  test('opens a channel that is too small: nothing arrives, and nothing is lost', async () => {
    const { relay, node } = await openWallet();
    relay.lie = lspsLie({
      asked: { 'lsps2.buy': (params) => ({ ...params, payment_size_msat: '101000000' }) },
    });
    await expectNothingMoved(node, await invoiceOf(node));
  });

  test('opens a channel and forwards nothing: it stays pending, and is paid when it does', async () => {
    const { relay, node } = await openWallet();
    const { lie, hasHeldBack } = neverForwards();
    relay.lie = lie;
    const made = await invoiceOf(node);
    expect((await world.payer.pays(made.invoice, 5_000)).state).toBe('pending');
    await until(hasHeldBack, 'the LSP has forwarded it');
    await until(async () => (await node.info()).numChannels === 1, 'the channel is there');
    expect(await stateOf(node, made)).toBe('pending');
    expect((await node.info()).lightningBalanceMsat).toBe(0n);
    relay.lie = TRUTH;
    relay.cut();
    await until(async () => (await node.info()).numUsableChannels === 0, 'the node has seen it');
    // To make an invoice that its channels cannot receive, the node connects to the LSP.
    await waitUntil('the node has connected to the LSP', () => invoiceOf(node));
    expect((await ended(node, made.paymentHash)).payment.status).toBe('completed');
  });

  test('takes back the coins of a channel that no block has: what was paid stays completed, and is lost', async () => {
    const { node } = await openWallet();
    const made = await invoiceOf(node);
    expect((await world.payer.pays(made.invoice, GIVEN_BACK_MS)).state).toBe('completed');
    expect((await ended(node, made.paymentHash)).payment.status).toBe('completed');
    const [channel] = (await node.channels?.listChannels()) ?? [];
    const funding = await until(() => channel?.fundingOutpoint?.split(':')[0], 'it is known');
    world.chain.doubleSpend(funding);
    world.chain.mine(6);
    // LDK does not look after the coins of a channel that another side has funded.
    const isRead = async () => (await node.info()).lightningMaxSendableMsat > 0n;
    await until(isRead, 'the node has read the blocks');
    expect(await stateOf(node, made)).toBe('completed');
    expect((await node.info()).lightningBalanceMsat).toBe(AMOUNT_MSAT - FEE_MSAT);
  });
});
