import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { elapsedMs, systemClock } from '../../../src/lib/clock.ts';
import { openLog } from '../../../src/lib/log.ts';
import { openLdk } from '../../../src/nodes/ldk/index.ts';
import { type RecoveryOptions, recoverLdk } from '../../../src/nodes/ldk/recovery/recovery.ts';
import { shapes } from '../../../src/nodes/ldk/words/words.ts';
import { ended, invoiceCommand, known, payCommand, randomHex } from '../../contracts/node/steps.ts';
import { CHAIN_SOURCES } from '../../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import {
  hasLdkHelper,
  type LdkNetwork,
  minedUntil,
  openLdkNetwork,
} from '../../support/ldk-network.ts';
import { memoryState } from '../../support/memory-state.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
const random = (bytes: number) => new Uint8Array(Buffer.from(randomHex(bytes), 'hex'));
/** More than closing, sweeping and sending cost here, in satoshis. */
const FEES_SAT = 10_000n;
const PAID_MSAT = 90_000_000n;
const RECEIVED_MSAT = 50_000_000n;

describe.skipIf(!hasLdkHelper()).each([...CHAIN_SOURCES])(
  'an LDK node whose state is lost, on %s',
  (source) => {
    let network: LdkNetwork;
    let folder: string;
    let beforeMsat: bigint;
    const folders: string[] = [];

    beforeAll(async () => {
      network = await openLdkNetwork(source);
      folder = join(network.dataDir, 'ldk', 'regtest');
      const { node } = await network.connector.connectRoot(network.rootSeed);
      const { lightningBalanceMsat: earlierMsat } = await node.info();
      const { invoice, hash } = await network.outside.invoice({ amountMsat: PAID_MSAT });
      known(await node.payInvoice(payCommand(node, invoice)));
      expect((await ended(node, hash)).payment.status).toBe('completed');
      const made = await node.createInvoice(invoiceCommand(node, { amountMsat: RECEIVED_MSAT }));
      expect((await network.outside.pays(made.invoice)).state).toBe('completed');
      await ended(node, made.paymentHash);
      // The channel's balance follows the end of a payment by a moment.
      beforeMsat = await until(async () => {
        const { onchainBalanceMsat, lightningBalanceMsat } = await node.info();
        const isWhole = lightningBalanceMsat === earlierMsat - PAID_MSAT + RECEIVED_MSAT;
        return isWhole && onchainBalanceMsat + lightningBalanceMsat;
      }, 'the balance has both payments');
    });
    afterAll(async () => {
      for (const one of folders) removeFolder(one);
      await network.close();
    });

    const recover = async (given: Partial<RecoveryOptions> = {}) => {
      const said: string[] = [];
      let isOver = false;
      const work = recoverLdk({
        ...{ rootSeed: network.rootSeed, network: 'regtest', chain: network.chain.server },
        ...{ dataDir: network.dataDir, listen: null, peers: [], to: null, log, elapsedMs },
        ...{ clock: systemClock, random },
        ...{ say: (sentence) => void said.push(sentence), everyMs: 500, quietMs: 4_000 },
        ...given,
      }).finally(() => {
        isOver = true;
      });
      work.catch(() => undefined);
      await minedUntil(network.chain, async () => isOver, 'it has ended');
      await work;
      return said.join('\n');
    };
    const coinsOf = async () => {
      const dataDir = temporaryFolder('ldk-recovered');
      folders.push(dataDir);
      const connector = await openLdk({
        ...{ rootSeed: network.rootSeed, network: 'regtest', chain: network.chain.server },
        ...{ lsp: null, listen: null, dataDir, channelPeer: null, state: memoryState() },
        ...{ clock: systemClock, elapsedMs, log, random },
      });
      const { node } = await connector.connectRoot(network.rootSeed);
      const { onchainBalanceMsat } = await node.info();
      await connector.close();
      return onchainBalanceMsat;
    };

    test('is not recovered while its state is there', async () => {
      const error = await recover().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ kind: 'refused' });
      expect((error as Error).message).toContain(folder);
      // What was committed last may still be in the file beside it.
      expect((error as Error).message).toContain('state.sqlite-wal');
    });

    test('gets what was its own in the channels, by peers that close them', async () => {
      const { nodePk, address } = network.outside;
      const peers = JSON.parse(readFileSync(join(folder, 'peers.json'), 'utf8')) as object;
      expect(peers).toEqual({ [nodePk]: address });
      await network.connector.close();
      for (const file of readdirSync(folder)) {
        if (file !== 'peers.json') rmSync(join(folder, file), { recursive: true });
      }
      // What the peer has not closed yet is not waited for: the time begins when it has closed both.
      let closedAtMs: number | null = null;
      const closing = until(async () => {
        const { call } = network.outside;
        return (await call<unknown[]>('channels', {}, shapes().channels)).length === 0;
      }, 'the peer has closed both').then(() => {
        closedAtMs = elapsedMs();
      });
      const sinceMs = () => (closedAtMs === null ? 0 : elapsedMs() - closedAtMs);
      const [said] = await Promise.all([recover({ elapsedMs: sinceMs }), closing]);
      // The first look may take minutes, or wait for a server that does not answer.
      expect(said).toMatch(/^Ctrl-C .*\nFirst the node looks at the chain/);
      expect(said).toContain(`Connected to ${nodePk}.`);
      expect(said).toContain('Told to close by force: 2 channels');
      expect(said).toContain('Done: 2 closed channels held');
      const lostMsat = beforeMsat - (await coinsOf());
      expect(lostMsat).toBeGreaterThan(0n);
      expect(lostMsat).toBeLessThan(FEES_SAT * 1000n);
    });

    test('gives everything to the address that is named, and needs no peer for that', async () => {
      const { call } = network.outside;
      const balance = async () =>
        (await call<{ onchain_msat: bigint }>('info', {}, shapes().info)).onchain_msat;
      const { address } = await call<{ address: string }>('address', {}, shapes().address);
      rmSync(join(folder, 'peers.json'));
      const before = await balance();
      const said = await recover({ to: address });
      expect(said).toContain('No peer is named');
      expect(await coinsOf()).toBe(0n);
      const arrivedMsat = await until(async () => {
        const now = (await balance()) - before;
        return now > 0n && now;
      }, 'it has arrived');
      expect(arrivedMsat).toBeGreaterThan(beforeMsat - FEES_SAT * 1000n);
    });
  },
);
