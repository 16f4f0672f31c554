import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { LND_LOCK_ID } from '../../src/nodes/lnd/reads/coin-locks.ts';
import { type FaultProxy, startFaultProxy } from '../hostile/fault-proxy.ts';
import { credentialsOf } from '../hostile/sidecar-on-fake.ts';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { describeNetwork } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const FUND = { method: 'POST', path: /^\/v2\/wallet\/psbt\/fund/ } as const;
const CUT_AFTER = { kind: 'cut-after' } as const;

describeNetwork('locks on coins of LND', (network) => {
  let proxy: FaultProxy;
  let sidecar: NodeSidecar;
  beforeAll(async () => {
    const { restUrl, tlsCertPath, macaroonPath } = network().alice;
    proxy = await startFaultProxy({ url: restUrl, cert: readFileSync(tlsCertPath, 'utf8') });
    const adminMacaroon = readFileSync(macaroonPath).toString('hex');
    const { url, cert } = proxy;
    sidecar = await startNodeSidecar([
      '--client-credentials',
      await credentialsOf({ url, cert, adminMacaroon }),
      '--channel-peer',
      `${network().bob.pubkey}@${network().bob.peerAddress}`,
    ]);
  });
  afterEach(() => proxy?.rules());
  afterAll(async () => {
    await sidecar?.close();
    await proxy?.stop();
  });

  const alice = <T>(method: 'GET' | 'POST', path: string, body?: object) =>
    network().alice.rest<T>(method, path, body);
  const leases = async () =>
    (await alice<{ locked_utxos: { id: string }[] }>('POST', '/v2/wallet/utxos/leases', {}))
      .locked_utxos;
  /** Locks that LND made under a sidecar's id. */
  const ours = async () =>
    (await leases()).filter(({ id }) => Buffer.from(id, 'base64').toString('hex') !== LND_LOCK_ID);
  const balance = async () => Number((await sidecar.get('/v2/node/node_info')).onchain_balance);
  const address = async () =>
    (await network().bob.rest<{ address: string }>('GET', '/v1/newaddress?type=0')).address;
  const send = async (more: object = {}) =>
    sidecar.call('POST', '/v2/node/pay_onchain', {
      body: { address: await address(), amount: '25000', ...more },
    });
  /** Whether this LND knows locks under a caller's own id. */
  const knowsIds = async () => {
    const { version } = await alice<{ version: string }>('GET', '/v1/getinfo');
    return Number(version.split('.')[1]) >= 19;
  };

  test('sends side by side succeed, count at once, and leave no coin locked', async () => {
    // A coin for each send.
    for (let coin = 0; coin < 6; coin++) {
      const { address: own } = await alice<{ address: string }>('GET', '/v1/newaddress?type=0');
      await network().btcd.send([{ address: own, amountSat: 400_000n }]);
    }
    await network().btcd.generate(1);
    await waitUntil('alice has the coins', async () => {
      const { utxos } = await alice<{ utxos: unknown[] }>('POST', '/v2/wallet/utxos', {
        min_confs: 1,
        max_confs: 9999999,
      });
      return utxos.length >= 6;
    });
    const answers = await Promise.all(Array.from({ length: 6 }, () => send()));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.txid)).size).toBe(6);
    await waitUntil('no coin is locked', async () => (await leases()).length === 0);
    await network().btcd.generate(1);
  });

  test('a lost answer to the choice of coins leaves the balance whole', async () => {
    const before = await balance();
    const isNew = await knowsIds();
    proxy.rules({ ...FUND, nth: isNew ? 1 : 2, fault: CUT_AFTER });
    const { body } = await send();
    expect(body.data).toMatchObject({ sent: 'no' });
    expect(proxy.fired).toHaveLength(1);
    expect(await balance()).toBe(before);
    if (isNew) {
      expect(await leases()).toEqual([]);
    } else {
      expect(body.msg).toMatch(/are locked at LND, .* until \d{4}-\d\d-\d\dT/);
      expect((await leases()).length).toBeGreaterThan(0);
      const all = await sidecar.call('POST', '/v2/node/pay_onchain', {
        body: { address: await address(), amount: `${before - 1}` },
      });
      expectError(all, 'refused', /are locked at LND, .* until/);
    }
    expect((await send()).status).toBe(200);
    await network().btcd.generate(1);
  });

  test('the coins of a process that was killed while it signed are free for the next one', async () => {
    // Those of a published send end after its answer.
    await waitUntil('no earlier lock of ours is left', async () => (await ours()).length === 0);
    proxy.rules({
      method: 'POST',
      path: /^\/v2\/wallet\/psbt\/finalize/,
      fault: { kind: 'delay', ms: 20_000 },
    });
    const fired = proxy.fired.length;
    send().catch(() => undefined);
    await waitUntil('LND is asked to sign', async () => proxy.fired.length > fired);
    expect(await ours()).not.toEqual([]);
    await sidecar.kill();
    proxy.rules();
    await sidecar.start();
    await send({ amount: '1000' });
    await waitUntil('the coins are free', async () => (await ours()).length === 0);
    await network().btcd.generate(1);
  });

  test('a channel that LND talks about with its peer is not opened again after a kill', async () => {
    const order = {
      body: { value: '300000' },
      headers: { 'idempotency-key': 'a channel while the peer is silent' },
    };
    const channels = async () =>
      (await sidecar.get('/v2/node/list_channels')).channels.filter(
        ({ channel_value }: { channel_value: string }) => channel_value === '300000',
      );
    const before = (await leases()).length;
    network().bob.pause();
    try {
      sidecar.call('POST', '/v2/node/open_channel', order).catch(() => undefined);
      await waitUntil('LND holds the coins', async () => (await leases()).length > before);
      await sidecar.kill();
      await sidecar.start();
      const again = sidecar.call('POST', '/v2/node/open_channel', order);
      const looks = () => proxy.seen.filter(({ path }) => path === '/v1/channels/pending').length;
      const from = looks();
      await waitUntil('the next process waits for the channel', async () => looks() > from + 2);
      network().bob.resume();
      const { status, body } = await again;
      expect(status).toBe(200);
      expect(await channels()).toMatchObject([{ channel_id: body.channel_id }]);
    } finally {
      network().bob.resume();
    }
    await network().btcd.generate(6);
  });

  test('two sidecars that are asked at once for one client_payment_id list every payment that was made', async () => {
    const { restUrl, tlsCertPath, macaroonPath } = network().alice;
    const other = await startNodeSidecar([
      '--client-credentials',
      await credentialsOf({
        url: restUrl,
        cert: readFileSync(tlsCertPath, 'utf8'),
        adminMacaroon: readFileSync(macaroonPath).toString('hex'),
      }),
    ]);
    try {
      const body = {
        address: await address(),
        amount: '31000',
        client_payment_id: 'd2'.repeat(32),
      };
      const answers = await Promise.all(
        [sidecar, other].map((one) => one.call('POST', '/v2/node/pay_onchain', { body })),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const own = answers.map((answer) => answer.body.txid as string);
      const { transactions } = await alice<{ transactions: { tx_hash: string; label: string }[] }>(
        'GET',
        '/v1/transactions',
      );
      const made = transactions
        .filter(({ label }) => label === `ws:${body.client_payment_id}`)
        .map(({ tx_hash }) => tx_hash);
      expect(made.toSorted()).toEqual([...new Set(own)].toSorted());
      await network().btcd.generate(7);
      for (const [which, one] of [sidecar, other].entries()) {
        const sends = async () => {
          await one.put('/v2/node/sync_payments');
          const listed = await one.get('/v2/node/list_payments', {
            filter: 'all',
            rail: 'onchain',
          });
          return listed.payments.filter(
            ({ txid, amount }: { txid: string; amount: string }) =>
              made.includes(txid) && amount === '31000',
          );
        };
        await waitUntil('each is completed once', async () => {
          const found = await sends();
          return (
            found.length === made.length &&
            found.every(({ status }: { status: string }) => status === 'completed')
          );
        });
        const mine = (await sends()).find(({ index }: { index: string }) =>
          index.endsWith(`os_${body.client_payment_id}`),
        );
        expect(mine.txid).toBe(own[which]);
      }
    } finally {
      await other.close();
    }
  });
});
