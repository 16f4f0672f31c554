import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { decodeAddress } from '../../../src/codecs/address.ts';
import { elapsedMs, systemClock } from '../../../src/lib/clock.ts';
import { openLog } from '../../../src/lib/log.ts';
import type { ApiError } from '../../../src/model/errors.ts';
import { paymentId, paymentIndex, receiveId } from '../../../src/model/payment-index.ts';
import type { ChainServer } from '../../../src/model/web-url.ts';
import { openLdk } from '../../../src/nodes/ldk/index.ts';
import { shapes } from '../../../src/nodes/ldk/words/words.ts';
import type { NodeOnchain, WalletNode } from '../../../src/nodes/node.ts';
import {
  ended,
  invoiceCommand,
  known,
  payCommand,
  questionOf,
  randomHex,
} from '../../contracts/node/steps.ts';
import { selfSignedCertificate } from '../../hostile/certificates.ts';
import { CHAIN_SOURCES, startEsploraChain } from '../../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import {
  hasLdkHelper,
  type LdkNetwork,
  minedUntil,
  openLdkNetwork,
  startOutsideNode,
} from '../../support/ldk-network.ts';
import { memoryState } from '../../support/memory-state.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
/** More than one transaction costs here, in millisatoshis. */
const FEE_MSAT = 5_000_000n;

describe.skipIf(!hasLdkHelper()).each([...CHAIN_SOURCES])(
  'an LDK node that reads the chain by %s',
  (source) => {
    let network: LdkNetwork;
    let node: WalletNode;
    let onchain: NodeOnchain;

    beforeAll(async () => {
      network = await openLdkNetwork(source);
      ({ node } = await network.connector.connectRoot(network.rootSeed));
      onchain = node.onchain as NodeOnchain;
    });
    afterAll(() => network.close());

    const addressOutside = async () =>
      (await network.outside.call<{ address: string }>('address', {}, shapes().address)).address;
    const balanceMsat = async () => (await node.info()).onchainBalanceMsat;

    async function send(amountMsat: bigint) {
      const createdAtMs = node.clock.now();
      const command = {
        ...{ index: paymentIndex(createdAtMs, paymentId('os', randomHex(32))), createdAtMs },
        ...{ amountMsat, address: decodeAddress(await addressOutside()), maxFeeMsat: null },
        ...{ priority: 'high' as const, personalNote: null, externalId: null },
      };
      const signed = await onchain.sign(command);
      return { command, signed };
    }

    test('receives on chain, first in no block and then in one', async () => {
      const before = await balanceMsat();
      const address = await onchain.nextUnusedAddress('segwit');
      const txid = network.chain.fund(address, 70_000n);
      await until(async () => (await balanceMsat()) === before + 70_000_000n, 'it has arrived');
      expect((await node.info()).onchainTrustedMsat).toBe(before);
      await network.mine(1);
      await until(async () => (await node.info()).onchainTrustedMsat > before, 'it is confirmed');
      const seen = await until(() => node.latestPayment(receiveId(txid, 0)), 'it is listed');
      expect(seen.payment.amountMsat).toBe(70_000_000n);
      expect(await onchain.nextUnusedAddress('segwit')).not.toBe(address);
    });

    test('sends on chain, and a repeat is harmless', async () => {
      const { command, signed } = await send(20_000_000n);
      const [lock] = signed.locks;
      const { payment } = known(await onchain.publish(command, signed));
      expect((await onchain.publish(command, signed)).state).toBe('known');
      expect(network.chain.spenderOf(lock?.outpoint ?? '')).toBe(signed.txid);
      await network.mine(1);
      expect((await onchain.publish(command, signed)).state).toBe('known');
      const outcome = await node.sendOutcome(questionOf(payment, { signed }));
      expect(outcome.state).toBe('known');
    });

    test('reads on after the server was away', async () => {
      const order = { address: decodeAddress(await addressOutside()), amountMsat: 9_000_000n };
      const estimate = () => onchain.estimateFeeMsat({ ...order, priority: 'high' });
      network.chain.isAway = true;
      const error = await estimate().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ kind: 'unreachable', outcomeUnknown: false });
      network.chain.isAway = false;
      const { command, signed } = await send(9_000_000n);
      network.chain.isAway = true;
      expect((await onchain.publish(command, signed)).state).toBe('unknown');
      network.chain.isAway = false;
      expect((await onchain.publish(command, signed)).state).toBe('known');
      const before = (await node.info()).onchainTrustedMsat;
      network.chain.fund(await onchain.nextUnusedAddress('segwit'), 30_000n);
      await network.mine(1);
      await until(async () => (await node.info()).onchainTrustedMsat > before, 'it is read');
    });

    test('answers calls at once with its own looks while the server comes and goes', async () => {
      const order = { address: decodeAddress(await addressOutside()), amountMsat: 9_000_000n };
      const estimate = () => onchain.estimateFeeMsat({ ...order, priority: 'high' });
      for (let round = 0; round < 5; round++) {
        network.chain.isAway = true;
        const calls = Array.from({ length: 8 }, () =>
          estimate().then(
            () => 'told',
            ({ kind }: ApiError) => kind,
          ),
        );
        await Promise.race(calls);
        network.chain.isAway = false;
        expect(await Promise.all(calls)).not.toContain('timeout');
      }
      expect(await estimate()).toBeGreaterThan(0n);
    });

    test('opens and closes a channel, and what was in it comes back', async () => {
      const { channels } = node;
      const known = (await channels?.listChannels()) ?? [];
      const before = await balanceMsat();
      const opened = await channels?.openChannel({
        ...{ valueMsat: 200_000_000n, userChannelId: randomHex(16), peer: null, maxFeeMsat: null },
      });
      await minedUntil(
        network.chain,
        async () => (await node.info()).numUsableChannels === known.length + 1,
        'the channel can be used',
      );
      const channelId = opened?.channelId ?? '';
      await channels?.closeChannel(channelId, { forced: false, maxFeeMsat: null });
      await minedUntil(
        network.chain,
        async () => (await channels?.listChannels())?.length === known.length,
        'the channel is closed',
      );
      await until(async () => before - (await balanceMsat()) < FEE_MSAT, 'its money is back');
    });

    test('goes on after its process was killed', async () => {
      const before = await balanceMsat();
      await network.killHelper();
      const usable = async () => (await node.info().catch(() => null))?.numUsableChannels === 2;
      await until(usable, 'it is back');
      expect(await balanceMsat()).toBe(before);
      const { invoice, hash } = await network.outside.invoice({ amountMsat: 40_000_000n });
      known(await node.payInvoice(payCommand(node, invoice)));
      expect((await ended(node, hash)).payment.status).toBe('completed');
      const made = await node.createInvoice(invoiceCommand(node, { amountMsat: 9_000_000n }));
      expect((await network.outside.pays(made.invoice)).state).toBe('completed');
    });

    test('a send whose coin another transaction has spent is refused once that has a block', async () => {
      const address = decodeAddress(await addressOutside());
      const most = await onchain.mostSendable({ address, priority: 'high' });
      // Each takes nearly every coin.
      const { command, signed } = await send(most.amountMsat - 5_000_000n);
      await onchain.release(signed);
      const other = await send(most.amountMsat - 6_000_000n);
      const coins = new Set(signed.locks.map(({ outpoint }) => outpoint));
      expect(other.signed.locks.some(({ outpoint }) => coins.has(outpoint))).toBe(true);
      expect((await onchain.publish(other.command, other.signed)).state).toBe('known');
      await network.mine(1);
      expect((await onchain.publish(command, signed)).state).toBe('refused');
    });
  },
);

/** Each of these has a node of its own and waits for a limit of it, so they run side by side. */
const alone = test.concurrent.skipIf(!hasLdkHelper());

/** Opens a node on a chain, and waits until health says something. */
async function saysOf(
  what: RegExp,
  { network, chain }: { readonly network: 'signet' | 'regtest'; readonly chain: ChainServer },
): Promise<void> {
  const dataDir = temporaryFolder('ldk-source');
  const connector = await openLdk({
    ...{ rootSeed: new Uint8Array(32).fill(7), network, chain },
    ...{ lsp: null, listen: null, dataDir, channelPeer: null, state: memoryState() },
    ...{ clock: systemClock, elapsedMs, log, random: () => new Uint8Array(16) },
  });
  try {
    await until(() => what.test(connector.problems().join(' ')), 'health says so');
  } finally {
    await connector.close();
    removeFolder(dataDir);
  }
}

alone.each([...CHAIN_SOURCES])(
  'an LDK node does not open on the chain of another network, by %s, and health says why',
  async (source) => {
    const chain = startEsploraChain(source);
    await saysOf(/the chain of another network than signet/, {
      network: 'signet',
      chain: chain.server,
    });
    chain.stop();
  },
);

alone(
  'an LDK node takes no Electrum server whose certificate no authority signed, and health says why',
  async () => {
    const chain = startEsploraChain('electrum');
    const behind = Number(new URL((chain.server as { electrum: string }).electrum).port);
    const front = createServer(selfSignedCertificate(), (socket) => {
      socket.on('error', () => undefined);
      socket.pipe(connect(behind, '127.0.0.1')).pipe(socket);
    });
    front.on('tlsClientError', () => undefined);
    await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening));
    const { port } = front.address() as { port: number };
    await saysOf(/certificate .* was not signed by an authority/, {
      network: 'regtest',
      chain: { electrum: `ssl://localhost:${port}` },
    });
    front.close();
    chain.stop();
  },
);

alone(
  'an LDK node reads on where its connections to an Electrum server are answered no more',
  async () => {
    const chain = startEsploraChain('electrum');
    const node = await startOutsideNode(chain);
    const heightOf = async () =>
      (await node.call<{ height: number }>('info', {}, shapes().info)).height;
    await until(async () => (await heightOf()) === chain.height(), 'it has read the chain');
    chain.stall();
    chain.mine(1);
    const isRead = async () => (await heightOf()) === chain.height();
    await waitUntil('it has read the block', isRead, SLOW_TEST_MS / 2);
    await node.close();
    chain.stop();
  },
);

alone('an LDK node that cannot reach its Electrum server names the setting', async () => {
  const chain = { electrum: 'tcp://127.0.0.1:1' };
  await saysOf(/--electrum-url/, { network: 'regtest', chain });
});
