import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomHex } from '../contracts/node/steps.ts';
import { type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { hasLdkHelper } from '../support/ldk-network.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { caughtUp } from './harness/channels.ts';
import { describeKinds } from './kinds.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const TITLE = "the sidecar's own node, of which the state is lost";
const COINS_SAT = 3_000_000n;
const CHANNEL_SAT = 1_000_000;
const PAID_SAT = 70_000;

if (!hasLdkHelper()) {
  describe(TITLE, () => {
    test.skip('all of it (no helper was built: npm run build:helper)', () => undefined);
  });
} else {
  describeKinds(TITLE, (network, kind) => {
    const folder = temporaryFolder('ldk-lost');
    const seedPath = join(folder, 'seed');
    let sidecar: NodeSidecar;
    let recovery: SidecarProcess | null = null;
    let node: readonly string[];
    let nodePk: string;
    const info = () => sidecar.get('/v2/node/node_info');

    beforeAll(async () => {
      const { bob, btcd, electrumUrl } = network();
      writeFileSync(seedPath, randomHex(32), { mode: 0o600 });
      node = ['--network', 'regtest', '--electrum-url', electrumUrl, '--root-seed-path', seedPath];
      const peer = ['--channel-peer', `${bob.pubkey}@${bob.peerAddress}`];
      sidecar = await startNodeSidecar(['--node', 'ldk', ...node, ...peer]);
      nodePk = (await info()).node_pk;
      const { address } = await sidecar.post('/v2/node/get_next_unused_address');
      await btcd.send([{ address, amountSat: COINS_SAT }]);
      await btcd.generate(1);
      await waitUntil('the coins are there', async () => {
        return (await info()).onchain_balance === `${COINS_SAT}`;
      });
      await sidecar.post('/v2/node/open_channel', { value: `${CHANNEL_SAT}` });
      await btcd.generate(6);
      await waitUntil('the channel can be used', async () => {
        return (await info()).num_usable_channels === 1;
      });
      const { invoice } = await bob.invoice({ amountMsat: PAID_SAT * 1000 });
      const paid = await sidecar.post('/v2/node/pay_invoice', { invoice });
      expect(paid.status).toBe('completed');
    });
    afterAll(async () => {
      await recovery?.kill();
      await sidecar?.close();
      removeFolder(folder);
    });

    test('gets what is its own, by a transaction that the network takes', async () => {
      await sidecar.stop();
      const place = join(sidecar.dataDir, 'ldk', 'regtest');
      for (const file of readdirSync(place)) {
        if (file !== 'peers.json') rmSync(join(place, file), { recursive: true });
      }
      const words = ['ldk', 'recover', ...node, '--data-dir', sidecar.dataDir];
      const started = startBinary(words, { env: { ...process.env } });
      recovery = started;
      await waitUntil('it has told bob to close', async () =>
        started.stdout().includes('Told to close by force: 1 channels'),
      );
      // Core Lightning mostly answers with a warning alone, so that its operator has to close.
      await kind.of({
        lnd: async () => undefined,
        cln: ({ bob }) => bob.rpc('close', { id: nodePk, unilateraltimeout: 1 }),
      });
      await waitUntil('it has ended', async () => {
        const { alice, bob, btcd } = network();
        await btcd.generate(1);
        await caughtUp(btcd, [alice.steps, bob.steps]);
        return !started.running();
      });
      const [, foundSat] = /Done: 1 closed channels held (\d+) sats/.exec(started.stdout()) ?? [];
      expect([await started.exit(), started.stderr()]).toEqual([0, '']);
      // The channel's opener pays for the closing, and for both anchors.
      expect(Number(foundSat)).toBeLessThan(CHANNEL_SAT - PAID_SAT);
      expect(Number(foundSat)).toBeGreaterThan(CHANNEL_SAT - PAID_SAT - 20_000);
    });
  });
}
