import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { ROOT } from '../support/binary.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { type Answer, type Body, expectError, send, sendOk } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type KeyedRequest, RELEASES, readNotes, releases, restoreData } from './release-data.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The version whose keys belonged to wallets: whose a key is, is not known (docs/decisions.md 148). */
const OF_WALLETS = '0.1.0';
const isOfWallet = ({ version }: KeyedRequest) => version === OF_WALLETS;
const isPayment = ({ path }: KeyedRequest) => path.startsWith('pay') || path === 'withdraw_lnurl';
const isUnderWay = ({ standing }: KeyedRequest) => standing !== 'done';
/** Another request of the kind that the caller may make. */
const changed = (request: KeyedRequest): KeyedRequest =>
  request.path.startsWith('pay')
    ? { ...request, body: { ...request.body, max_fee: '999' } }
    : { ...request, path: 'create_offer', body: { description: 'another' } };

test('every release of the change log has left its data, alone and over that of the one before', async () => {
  const text = await Bun.file(join(ROOT, 'CHANGELOG.md')).text();
  const versions = [...text.matchAll(/^## \[(\d[^\]]*)\]/gm)].map(([, version = '']) => version);
  expect(versions).toContain(OF_WALLETS);
  const over = versions.slice(0, -1).map((version, nth) => `${version}-over-${versions[nth + 1]}`);
  expect(releases()).toEqual([...versions, ...over].toSorted());
});

for (const release of releases()) {
  const notes = await readNotes(join(RELEASES, release));
  const ofWallets = notes.requests.filter(isOfWallet);

  describe(`after the upgrade from ${release}`, () => {
    const folder = temporaryFolder('repeats');
    const port = freePort();
    const url = `http://127.0.0.1:${port}`;
    let sidecar: DevSidecar;
    let before: Body;
    beforeAll(async () => {
      const dataDir = join(folder, 'data');
      await restoreData(join(RELEASES, release), dataDir);
      sidecar = await startDevSidecar({ dataDir, port, webhookUrl: 'http://127.0.0.1:9/hook' });
      before = await holdings();
    });
    afterAll(async () => {
      await sidecar.stop();
      removeFolder(folder);
    });

    /** All that requests could have changed: money, payments, channels and clients. */
    async function holdings(): Promise<Body> {
      const payments: Body[] = [];
      for (let after: string | null = null; ; ) {
        const query: Record<string, string> = {
          limit: '100',
          ...(after && { start_index: after }),
        };
        const page = await sendOk(url, 'GET', '/v2/node/updated_payments', { query });
        payments.push(...page.payments);
        if (page.payments.length < 100) break;
        after = page.updated_index;
      }
      const { balance, lightning_balance, onchain_balance } = await sendOk(
        url,
        'GET',
        '/v2/node/node_info',
      );
      const { channels } = await sendOk(url, 'GET', '/v2/node/list_channels');
      const { clients } = await sendOk(url, 'GET', '/v2/node/list_clients');
      return { payments, balance, lightning_balance, onchain_balance, channels, clients };
    }
    function repeat(request: KeyedRequest, as = request.caller): Promise<Answer> {
      return send(url, 'POST', `/v2/node/${request.path}`, {
        body: request.body,
        credentials: notes.callers[as]?.credentials ?? undefined,
        headers: {
          'idempotency-key': request.key,
          // What is under way stays so until the test has it decided.
          ...(isUnderWay(request) ? { prefer: 'respond-async' } : {}),
        },
      });
    }
    const callerOf = ({ caller }: KeyedRequest) => {
      const found = notes.callers[caller];
      if (!found) throw new Error(`${caller} is not noted`);
      return found;
    };
    const named = (request: KeyedRequest, name: string) => `${request.version} ${name}`;
    const is = (request: KeyedRequest, ...names: string[]) =>
      names.some((name) => request.caller === named(request, name));
    /** Requests whose callers are there still. */
    const present = () => {
      const found = notes.requests.filter((request) => !callerOf(request).isRevoked);
      expect(found.length).toBeGreaterThan(0);
      return found;
    };

    function expectFirstOutcome(request: KeyedRequest, answer: Answer): void {
      if (request.path === 'create_client' && endedClients().has(request.answer?.client_pk)) {
        expectError(answer, 'refused', /use a new Idempotency-Key/);
      } else if (isUnderWay(request)) {
        expect(answer).toMatchObject({ status: 202, body: { status: 'pending' } });
        if (request.answer) expect(answer.body.index).toBe(request.answer.index);
      } else {
        expect({ key: request.key, body: answer.body }).toEqual({
          key: request.key,
          body: request.answer,
        });
        expect(answer.status).toBe(200);
      }
    }
    /** Clients whose credentials are not shown again: the revoked ones, and those that version 0.1 made. */
    function endedClients(): Set<unknown> {
      const revoked = notes.requests.filter(({ path }) => path === 'revoke_client');
      const made = ofWallets.filter(({ path }) => path === 'create_client');
      return new Set([
        ...revoked.map(({ body }) => body.client_pk),
        ...made.map(({ answer }) => answer?.client_pk),
      ]);
    }
    /** Whether it is not known that the payment is that caller's, who may not read payments of others. */
    function isHidden(request: KeyedRequest, caller: string): boolean {
      if (!isOfWallet(request) || !isPayment(request)) return false;
      if (
        ['full', 'read_payments'].some((scope) => notes.callers[caller]?.scopes.includes(scope))
      ) {
        return false;
      }
      // What a client spends is noted as its own. A failed payment, and one that arrives, is nobody's.
      const isNoted = request.path.startsWith('pay') && request.answer?.status !== 'failed';
      return request.caller !== caller || !isNoted;
    }
    function expectStatusAlone(request: KeyedRequest, answer: Answer): void {
      expectError(answer, 'refused');
      // A transaction that was answered pending may have its confirmations.
      const known = before.payments.find(({ index }: Body) => index === request.answer?.index);
      expect(answer.body.data).toEqual({ status: isUnderWay(request) ? 'pending' : known.status });
    }

    test('every caller gets the first outcome of its own request, or the status of a payment that it may not read', async () => {
      for (const request of present()) {
        const answer = await repeat(request);
        if (isHidden(request, request.caller)) expectStatusAlone(request, answer);
        else expectFirstOutcome(request, answer);
      }
    });

    test('payments under way are one each, however they were cut off', async () => {
      const underWay = present().filter(isUnderWay);
      const seen = underWay.filter((request) => is(request, 'owner', 'app'));
      const answers = await Promise.all(seen.map((request) => repeat(request)));
      expect(new Set(answers.map(({ body }) => body.index)).size).toBe(seen.length);
      const again = await Promise.all(seen.map((request) => repeat(request)));
      expect(again.map(({ body }) => body.index)).toEqual(answers.map(({ body }) => body.index));
    });

    test('another request with a used key is error 111', async () => {
      for (const request of present()) {
        expectError(await repeat(changed(request)), 'idempotencyConflict');
      }
    });

    if (ofWallets.length > 0) {
      test('keys of version 0.1 are met by every caller of the wallet that may see the outcome', async () => {
        for (const request of ofWallets) {
          for (const name of ['owner', 'app']) {
            expectFirstOutcome(request, await repeat(request, named(request, name)));
            const other = await repeat(changed(request), named(request, name));
            expectError(other, 'idempotencyConflict');
          }
        }
      });

      test('keys of version 0.1 show others the status of a payment alone, and nothing to who may not pay', async () => {
        const payments = ofWallets.filter(({ path }) => path.startsWith('pay'));
        for (const request of payments) {
          for (const name of ['payout', 'capped']) {
            const caller = named(request, name);
            const answer = await repeat(request, caller);
            if (isHidden(request, caller)) expectStatusAlone(request, answer);
            else expectFirstOutcome(request, answer);
            expectError(await repeat(changed(request), caller), 'idempotencyConflict');
          }
          expectError(await repeat(request, named(request, 'till')), 'forbidden');
        }
      });
    }

    test('a revoked caller is error 104 for its own keys and those of others', async () => {
      for (const request of notes.requests) {
        const answer = await repeat(request, named(request, 'gone'));
        expectError(answer, 'unauthenticated');
      }
    });

    test('nothing was paid, made or changed by all that', async () => {
      expect(await holdings()).toEqual(before);
    });

    test('the name, budgets and deliveries are there', async () => {
      const name = await sendOk(url, 'GET', '/v2/node/human_bitcoin_address');
      expect(name.human_bitcoin_address).toStartWith('₿satoshi@');
      const { clients } = await sendOk(url, 'GET', '/v2/node/list_clients');
      const capped = (Object.values(clients) as Body[]).filter(({ label }) => label === 'capped');
      expect(capped.length).toBeGreaterThan(0);
      for (const { budget } of capped) expect(Number(budget.spent)).toBeGreaterThan(1000);
      const { deliveries } = await sendOk(url, 'GET', '/v2/webhooks/deliveries');
      expect(deliveries.length).toBeGreaterThan(0);
    });

    test('payments under way end once, and their keys answer that end', async () => {
      for (const hash of notes.held) {
        const body = { payment_hash: hash, settle: true };
        await sendOk(url, 'POST', '/sandbox/holds', { body });
      }
      for (const request of present().filter((one) => isUnderWay(one) && is(one, 'owner', 'app'))) {
        const answer = await until(async () => {
          const { status, body } = await repeat(request);
          return status === 200 ? body : null;
        });
        expect(answer.status).toBe('completed');
        expect(notes.held).toContain(answer.hash);
      }
      expect((await holdings()).payments.length).toBe(before.payments.length);
      const ended = notes.requests.filter(isUnderWay).length;
      const query = { limit: '100' };
      const notified = await until(async () => {
        const { deliveries } = await sendOk(url, 'GET', '/v2/webhooks/deliveries', { query });
        const indexes = new Set(deliveries.map(({ index }: Body) => index));
        const { payments } = await holdings();
        const held = payments.filter(({ hash }: Body) => notes.held.includes(hash));
        return held.every(({ index }: Body) => indexes.has(index)) ? held.length : null;
      });
      expect(notified).toBe(ended);
    });
  });
}
