import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';
import { describeNetwork, type LndProcess } from './harness/index.ts';
import { startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

describeNetwork('a fresh LND under a root seed', (network) => {
  const folder = temporaryFolder('seed');
  const seedFile = (seed: string): string => {
    const path = join(folder, seed.slice(0, 8));
    writeFileSync(path, seed, { mode: 0o600 });
    return path;
  };
  const flagsFor = (node: LndProcess, seed: string) => [
    '--root-seed-path',
    seedFile(seed),
    '--node-url',
    node.restUrl,
    '--node-cert-path',
    node.tlsCertPath,
  ];
  const synced = (
    sidecar: { get: (path: string) => Promise<{ onchain_balance: string }> },
    sats: string,
  ) =>
    waitUntil(`a balance of ${sats}`, async () => {
      return (await sidecar.get('/v2/node/node_info')).onchain_balance === sats;
    });

  const healthy = (
    sidecar: { get: (path: string) => Promise<{ status: string }> },
    words: RegExp,
  ) =>
    waitUntil(`health says ${words}`, async () => {
      return words.test((await sidecar.get('/v2/health')).status);
    });

  afterAll(() => removeFolder(folder));

  test('signup creates its wallet, provision unlocks it after a restart, and an empty LND is regained from the seed alone', async () => {
    const seed = 'a7'.repeat(32);
    const carol = await network().addFreshNode('carol');
    const sidecar = await startNodeSidecar(flagsFor(carol, seed));
    try {
      expectError(await sidecar.call('GET', '/v2/node/node_info'), 'refused', /signup/);
      await healthy(sidecar, /has no wallet yet: PUT \/v2\/node\/signup creates it\.$/);
      await sidecar.put('/v2/node/signup');
      await sidecar.put('/v2/node/signup');
      const first = await sidecar.get('/v2/node/node_info');
      const { address } = await sidecar.post('/v2/node/get_next_unused_address');
      await network().btcd.send([{ address, amountSat: 123_456n }]);
      await network().btcd.generate(1);
      await synced(sidecar, '123456');

      // LND's balance may change a moment before its feed tells of the payment.
      await until(async () => {
        await sidecar.put('/v2/node/sync_payments');
        const cached = await sidecar.get('/v2/node/list_payments', { filter: 'all' });
        return cached.payments.length === 1;
      }, 'the payment is in the cache');
      await sidecar.stop();
      await carol.stop();
      await sidecar.start();
      const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'all' });
      expect(payments).toMatchObject([{ amount: '123456', address }]);
      await healthy(sidecar, /did not answer when it was last asked/);
      await carol.start();
      expectError(
        await sidecar.call('GET', '/v2/node/node_info'),
        'unreachable',
        /locked.*PUT \/v2\/node\/provision unlocks it/,
      );
      await healthy(sidecar, /is locked: PUT \/v2\/node\/provision unlocks it\.$/);
      await sidecar.put('/v2/node/provision');
      await synced(sidecar, '123456');
      await healthy(sidecar, /^ok$/);

      const made = await sidecar.post('/v2/node/create_client', { scopes: ['read_info'] });
      const seen = await sidecar.get('/v2/node/node_info', {}, made.client_credentials);
      expect(seen.node_pk).toBe(first.node_pk);
      await carol.stop();

      const dave = await network().addFreshNode('dave');
      const other = await startNodeSidecar(flagsFor(dave, seed));
      try {
        await other.put('/v2/node/signup');
        const regained = await other.get('/v2/node/node_info');
        expect(regained.node_pk).toBe(first.node_pk);
        expect(regained.user_pk).toBe(first.user_pk);
        await synced(other, '123456');
        await other.post('/v2/node/create_client', { scopes: ['full'] });
      } finally {
        await other.close();
      }
    } finally {
      await sidecar.close();
    }
  });

  test('an LND with the wallet of another seed is refused with words that say so', async () => {
    const erin = await network().addFreshNode('erin');
    const first = await startNodeSidecar(flagsFor(erin, 'b1'.repeat(32)));
    await first.put('/v2/node/signup');
    await first.close();
    const second = await startNodeSidecar(flagsFor(erin, 'b2'.repeat(32)));
    try {
      await second.put('/v2/node/signup');
      expectError(
        await second.call('GET', '/v2/node/node_info'),
        'unauthenticated',
        /another root seed/,
      );
      expect(second.log()).not.toContain('b2'.repeat(32));
    } finally {
      await second.close();
    }
  });
});
