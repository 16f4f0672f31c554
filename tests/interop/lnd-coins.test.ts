import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
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
    (await alice<{ locked_utxos: unknown[] }>('POST', '/v2/wallet/utxos/leases', {})).locked_utxos;
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
    if (!(await knowsIds())) return;
    proxy.rules({
      method: 'POST',
      path: /^\/v2\/wallet\/psbt\/finalize/,
      fault: { kind: 'delay', ms: 20_000 },
    });
    send().catch(() => undefined);
    await waitUntil('coins are locked', async () => (await leases()).length > 0);
    await sidecar.kill();
    proxy.rules();
    await sidecar.start();
    await send({ amount: '1000' });
    await waitUntil('the coins are free', async () => (await leases()).length === 0);
    await network().btcd.generate(1);
  });
});
