import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WalletNode } from '../../../src/nodes/node.ts';
import { ended, invoiceCommand } from '../../contracts/node/steps.ts';
import { type CuttingProxy, cuttingProxy } from '../../support/cutting-proxy.ts';
import { CHAIN_SOURCES, type EsploraChain } from '../../support/esplora-chain.ts';
import { hasLdkHelper, type OutsideNode } from '../../support/ldk-network.ts';
import { type LspWorld, openLspWorld } from '../../support/lsp-world.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const WITH_HELPER = describe.skipIf(!hasLdkHelper());

WITH_HELPER.each([...CHAIN_SOURCES])(
  'the first payment into an LDK node without a coin, on %s',
  (source) => {
    let world: LspWorld;
    let payer: OutsideNode;
    let chain: EsploraChain;
    let lsp: OutsideNode;

    /** Opens a wallet that reaches the LSP by that address. */
    const openWallet = async (maxFeeMsat: bigint, host?: string) =>
      (await world.openWallet({ maxFeeMsat, ...(host !== undefined && { host }) })).node;

    beforeAll(async () => {
      world = await openLspWorld(source);
      ({ payer, chain, lsp } = world);
    });
    afterAll(() => world.close());

    test('opens a channel at the LSP, for the fee that was shown before', async () => {
      const { node, dataDir } = await world.openWallet({ maxFeeMsat: 5_000_000n });
      expect((await node.info()).numChannels).toBe(0);
      const made = await node.createInvoice(invoiceCommand(node, { amountMsat: 200_000_000n }));
      expect(made.payment).toMatchObject({ status: 'pending', amountMsat: 200_000_000n });
      const feeMsat = made.payment.feesMsat;
      expect(made.lspFeeMsat).toBe(feeMsat);
      expect(feeMsat).toBeGreaterThan(0n);
      expect(feeMsat).toBeLessThanOrEqual(5_000_000n);
      expect((await payer.pays(made.invoice)).state).toBe('completed');
      const { payment } = await ended(node, made.paymentHash);
      expect(payment).toMatchObject({ status: 'completed', amountMsat: 200_000_000n - feeMsat });
      expect(payment.feesMsat).toBe(feeMsat);
      const info = await node.info();
      expect(info).toMatchObject({ numChannels: 1, lightningBalanceMsat: 200_000_000n - feeMsat });
      // Whom to ask to close it, should the state be lost.
      const peers = readFileSync(join(dataDir, 'ldk', 'regtest', 'peers.json'), 'utf8');
      expect(JSON.parse(peers)).toEqual({ [lsp.nodePk]: lsp.address });
    });

    test('is refused where the LSP asks for more than --max-lsp-fee', async () => {
      const node = await openWallet(1000n);
      const order = node.createInvoice(invoiceCommand(node, { amountMsat: 200_000_000n }));
      expect(await order.catch((error: unknown) => error)).toMatchObject({
        kind: 'refused',
        message: 'The LSP asks for 2000 sats for this channel, more than --max-lsp-fee.',
      });
    });

    // The source of the chain has no part in it.
    if (source !== 'esplora') return;
    describe('whose LSP vanishes', () => {
      const lspProxy = () => cuttingProxy(Number(lsp.address.split(':')[1]));
      const invoiceOf = (node: WalletNode) =>
        node.createInvoice(invoiceCommand(node, { amountMsat: 200_000_000n }));

      test.each([
        ['is away', (proxy: CuttingProxy, on: boolean) => proxy.refuse(on)],
        ['does not answer', (proxy: CuttingProxy, on: boolean) => proxy.silence(on)],
      ])('makes no invoice while it %s, and makes it afterwards', async (_, vanish) => {
        const proxy = lspProxy();
        const node = await openWallet(5_000_000n, `127.0.0.1:${proxy.port}`);
        vanish(proxy, true);
        expect(await invoiceOf(node).catch((error: unknown) => error)).toMatchObject({
          kind: 'unreachable',
          message: expect.stringMatching(/^The LSP /),
          outcomeUnknown: false,
        });
        vanish(proxy, false);
        const made = await waitUntil('it is made', () => invoiceOf(node));
        expect(made.payment.status).toBe('pending');
        proxy.stop();
      });

      test('after the invoice was made leaves it pending, and others are paid when it is back', async () => {
        const proxy = lspProxy();
        const node = await openWallet(5_000_000n, `127.0.0.1:${proxy.port}`);
        const made = await invoiceOf(node);
        proxy.refuse(true);
        expect((await payer.pays(made.invoice, 3000)).state).not.toBe('completed');
        const state = async () => (await node.payment(made.payment.index))?.payment.status;
        expect(await state()).toBe('pending');
        proxy.refuse(false);
        // To make an invoice, the node connects to the LSP.
        const other = await waitUntil('another is made', () => invoiceOf(node));
        expect((await payer.pays(other.invoice)).state).toBe('completed');
        expect((await ended(node, other.paymentHash)).payment.status).toBe('completed');
        // What the LSP makes of the first is its own affair: it may hold it, or give it back.
        expect(await state()).not.toBe('failed');
        proxy.stop();
      });

      test('before the block of its channel leaves what was paid, and the channel works when it is back', async () => {
        const proxy = lspProxy();
        const node = await openWallet(5_000_000n, `127.0.0.1:${proxy.port}`);
        const made = await invoiceOf(node);
        expect((await payer.pays(made.invoice)).state).toBe('completed');
        const { payment } = await ended(node, made.paymentHash);
        expect(payment.status).toBe('completed');
        proxy.refuse(true);
        await until(async () => (await node.info()).numUsableChannels === 0, 'the LSP is gone');
        const held = (await node.info()).lightningBalanceMsat;
        expect(held).toBe(payment.amountMsat ?? 0n);
        expect((await node.payment(payment.index))?.payment).toEqual(payment);
        chain.mine(6);
        proxy.refuse(false);
        await waitUntil('the node has connected to the LSP', () => invoiceOf(node));
        await until(async () => (await node.info()).numUsableChannels === 1, 'it can be used');
        expect((await node.info()).lightningBalanceMsat).toBe(held);
        proxy.stop();
      });
    });
  },
);
