import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type FakeLnd, startFakeLnd } from './fake-lnd.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type NodePlace, type SidecarOnFake, startSidecarOnFake } from './sidecar-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

const LONG_MS = 60_000;
/** Longer than any call to a node may take. */
const NEVER_MS = 600_000;
/** Shorter than any call to a node that does not answer takes. */
const AT_ONCE_MS = 10_000;

/** How a node goes away: where it is reached before, and what happens to it. */
interface Away {
  readonly error: 'unreachable' | 'timeout';
  place(fake: FakeLnd, proxy: FaultProxy): NodePlace;
  leave(fake: FakeLnd, proxy: FaultProxy): Promise<void>;
  back(fake: FakeLnd, proxy: FaultProxy): Promise<void>;
}

const AWAY: Readonly<Record<string, Away>> = {
  'is down': {
    error: 'unreachable',
    place: (fake) => fake,
    leave: (fake) => fake.stop(),
    back: (fake) => fake.start(),
  },
  'accepts connections and never answers': {
    error: 'timeout',
    place: (fake, proxy) => ({ ...proxy, adminMacaroon: fake.adminMacaroon }),
    async leave(_, proxy) {
      const fault = { kind: 'delay', ms: NEVER_MS } as const;
      const methods = ['GET', 'POST', 'DELETE'] as const;
      proxy.rules(...methods.map((method) => ({ method, path: /./, fault })));
    },
    async back(_, proxy) {
      proxy.rules();
      proxy.drop();
    },
  },
};

for (const [what, away] of Object.entries(AWAY)) {
  describe(`after a restart while LND ${what}`, () => {
    let fake: FakeLnd;
    let proxy: FaultProxy;
    let sidecar: SidecarOnFake;
    let client = '';
    /** A pending payment. */
    let index = '';
    beforeAll(async () => {
      fake = await startFakeLnd();
      proxy = await startFaultProxy(fake);
      sidecar = await startSidecarOnFake(away.place(fake, proxy));
      ({ index } = await sidecar.post('/v2/node/create_invoice', { amount: '7' }));
      const scopes = ['read_info', 'read_payments'];
      ({ client_credentials: client } = await sidecar.post('/v2/node/create_client', { scopes }));
      await sidecar.put('/v2/node/sync_payments');
      await sidecar.stop();
      await away.leave(fake, proxy);
      await sidecar.start();
    }, LONG_MS);
    afterAll(async () => {
      await sidecar?.close();
      await proxy?.stop();
      await fake?.stop();
    }, LONG_MS);
    const becomes = (words: RegExp) =>
      until(async () => words.test((await sidecar.get('/v2/health')).status), String(words));

    for (const caller of ['the owner', 'a client']) {
      test(`${caller} reads at once what is stored`, async () => {
        const credentials = caller === 'a client' ? client : undefined;
        const startedMs = performance.now();
        const all = { filter: 'all' };
        const { payments } = await sidecar.get('/v2/node/list_payments', all, credentials);
        expect(payments.map((payment: { index: string }) => payment.index)).toContain(index);
        const one = await sidecar.get('/v2/node/payment', { index }, credentials);
        expect(one).toMatchObject({ index, status: 'pending', amount: '7' });
        await sidecar.get('/v2/node/client_info', {}, credentials);
        await sidecar.get('/v2/health');
        expect(performance.now() - startedMs).toBeLessThan(AT_ONCE_MS);
      });
    }

    test('a payment is an error that says that nothing was sent', async () => {
      const { invoice } = fake.payments.foreignInvoice({ amountMsat: 5_000n });
      const answer = await sidecar.call('POST', '/v2/node/pay_invoice', { body: { invoice } });
      expectError(answer, away.error, /LND/);
      expect(answer.body.data).toMatchObject({ sent: 'no' });
    });

    test('health says that LND does not answer and what to do, until LND is back', async () => {
      await becomes(
        /^The LND at https:\/\/\S+ did not answer when it was last asked: check that it runs\.$/,
      );
      await away.back(fake, proxy);
      await becomes(/^ok$/);
    });
  });
}

describe('an LND that is locked', () => {
  let fake: FakeLnd;
  let sidecar: SidecarOnFake;
  beforeAll(async () => {
    fake = await startFakeLnd();
    sidecar = await startSidecarOnFake(fake);
    fake.setState('LOCKED');
  }, LONG_MS);
  afterAll(async () => {
    await sidecar?.close();
    await fake?.stop();
  }, LONG_MS);

  test('is error 3 for requests that need it, and health says the same: what its operator can do', async () => {
    expectError(
      await sidecar.call('GET', '/v2/node/node_info'),
      'unreachable',
      /locked.*: unlock it with `lncli unlock`\./,
    );
    expect((await sidecar.get('/v2/health')).status).toMatch(
      /^The LND at https:\/\/\S+ is locked: unlock it with `lncli unlock`\.$/,
    );
  });
});
