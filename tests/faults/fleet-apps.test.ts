import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { type NostrRelay, startNostrRelay } from '../support/nostr-relay.ts';
import { nwcApp } from '../support/nwc-app.ts';
import { freePort } from '../support/ports.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { Bills } from './bills.ts';
import { type Fleet, startFleet } from './fleet-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const GRANT = {
  scopes: ['read_info', 'send', 'read_payments'],
  budget: { amount: '100000', period: 'total' },
};

describe.skipIf(programs === null)('applications of several sidecars on one database', () => {
  const ports = [freePort(), freePort()];
  let server: TestPostgres;
  let fake: FakeLnd;
  let relay: NostrRelay;
  let fleet: Fleet;
  let bills: Bills;

  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    fake = await startFakeLnd({ channelSat: 10_000_000n });
    relay = startNostrRelay();
    bills = new Bills(fake);
    fleet = await startFleet(fake, {
      size: 2,
      databaseUrl: await server.createDatabase(),
      leaseSecs: 10,
      flags: ['--nwc-relay', relay.url],
      flagsOf: (at) => ['--phoenixd-listen-addr', `127.0.0.1:${ports[at]}`],
    });
  });
  afterAll(async () => {
    await fleet?.close();
    relay?.stop();
    await fake?.stop();
    await server?.stop();
  });

  test("phoenixd's API says the same at each of them", async () => {
    const leader = await fleet.leader();
    const { client_credentials } = await leader.post('/v2/node/create_client', GRANT);
    const authorization = `Basic ${Buffer.from(`:${client_credentials}`).toString('base64')}`;
    for (const port of ports) {
      const answer = await fetch(`http://127.0.0.1:${port}/getinfo`, {
        headers: { authorization },
      });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ nodeId: fake.pubkey });
    }
  });

  test('the one that leads is connected alone, and the next one answers what it was asked', async () => {
    const leader = await fleet.leader();
    const made = await leader.post('/v2/node/create_client', { ...GRANT, nwc: {} });
    const app = nwcApp(made.nwc_uri, relay);
    await until(() => app.info(), 'the application is told what it may do');
    expect(relay.connected()).toBe(1);

    const { invoice, hash } = bills.one();
    fake.payments.decide(hash, { end: 'hold' });
    const asked = app.eventOf('pay_invoice', { invoice });
    app.send(asked);
    await until(() => fake.payments.attempts.has(hash), 'the payment is under way');
    await leader.kill();
    expect(await fleet.leader()).not.toBe(leader);
    fake.payments.resolve(hash, { end: 'succeed' });
    const [answer] = await app.answered(asked);
    expect(answer).toMatchObject({
      error: null,
      result: { preimage: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(fake.payments.attempts.get(hash)).toBe(1);
    expect(relay.connected()).toBe(1);
  });
});
