import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import type { PaymentJson } from '../../src/model/payment.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { randomFrom } from '../support/random.ts';
import { CallFailed } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { expectNothingLost, stopTails, totalSats, twoWallets } from './checks.ts';
import { jumpingClock } from './jumping-clock.ts';
import { unreliableReceiver } from './receiver.ts';
import { ROUNDS, SEED } from './seed.ts';
import { eventually } from './truth.ts';

setDefaultTimeout(SLOW_TEST_MS);

const DAY_MS = 24 * 3_600_000;
const folder = temporaryFolder('clock');
afterAll(() => removeFolder(folder));
const clock = jumpingClock(folder);

test.skipIf(clock === null)(
  `the machine's clock jumps ${ROUNDS * 10} times under load (seed ${SEED}): nothing is lost, nothing comes twice, nothing hangs`,
  async () => {
    if (clock === null) return;
    const random = randomFrom(SEED + 3);
    const receiver = unreliableReceiver(random);
    const sidecar = await startDevSidecar({
      dataDir: join(folder, 'data'),
      port: freePort(),
      webhookUrl: receiver.url,
      env: { ...clock.env, ...receiver.env },
    });
    const { client_credentials: second } = (await sidecar.call('POST', '/sandbox/wallets', {
      body: {},
    })) as { client_credentials: string };
    const total = await totalSats(sidecar, second);
    const budgeted = await createBudgetedClient(sidecar, second);
    const events = await openEvents(sidecar);
    const wallets = twoWallets({
      dataDir: join(folder, 'data'),
      baseUrl: sidecar.baseUrl,
      second,
    });

    let jumping = true;
    const working = [second, second, second, budgeted].map(async (credentials, at) => {
      const seen: string[] = [];
      for (let turn = 0; jumping; turn++) {
        const index = await payOnce(sidecar, credentials, `${at}-${turn}`);
        if (index !== null) seen.push(index);
        else await Bun.sleep(5);
      }
      return seen;
    });
    for (let round = 0; round < ROUNDS * 10; round++) {
      clock.set((random() - 0.5) * 20 * DAY_MS);
      await Bun.sleep(10 + random() * 60);
    }
    clock.set(-5 * DAY_MS);
    jumping = false;
    const byWorker = await Promise.all(working);
    const received = byWorker.flat();

    const created = (await sidecar.call('POST', '/v2/node/create_invoice', {
      body: { amount: '1' },
    })) as { created_at: number };
    expect(Date.now() - created.created_at).toBeGreaterThan(4 * DAY_MS);
    expect(received.length).toBeGreaterThan(0);
    receiver.behave();
    expect(await totalSats(sidecar, second)).toBe(total);
    await expectNothingLost(wallets, receiver);
    await stopTails(wallets);
    expect([...receiver.times()].filter(([, times]) => times !== 1)).toEqual([]);
    const { budget } = (await sidecar.call('GET', '/v2/node/client_info', {
      credentials: budgeted,
    })) as { budget: { spent: string } };
    const withinBudget = byWorker[3]?.length ?? 0;
    expect(withinBudget).toBeLessThanOrEqual(7);
    expect(Number(budget.spent)).toBe(7 * withinBudget);
    await events.expectAll(received);
    expect(await sidecar.stop()).toBe(0);
    await receiver.stop();
  },
  20 * 60_000,
);

/** A client of the second wallet that may pay 50 sats in all, which is 7 payments of 7. */
async function createBudgetedClient(sidecar: DevSidecar, credentials: string): Promise<string> {
  const { client_credentials } = (await sidecar.call('POST', '/v2/node/create_client', {
    body: { scopes: ['full'], budget: { amount: '50', period: 'total' } },
    credentials,
  })) as { client_credentials: string };
  return client_credentials;
}

/**
 * Pays the default wallet once with a key, and again with the same key, while the receiver waits for the payment.
 * Returns the receiver's index, or null when the invoice expired or the budget is spent.
 */
async function payOnce(
  sidecar: DevSidecar,
  credentials: string,
  key: string,
): Promise<string | null> {
  const created = (await sidecar.call('POST', '/v2/node/create_invoice', {
    body: { amount: '7', expiration_secs: 604_800 },
  })) as { index: string; invoice: string };
  const wait = sidecar.call('GET', '/v2/node/wait_for_payment', {
    query: { index: created.index, timeout_secs: '120' },
  }) as Promise<PaymentJson>;
  const pay = () =>
    sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice: created.invoice, max_fee: '0' },
      headers: { 'idempotency-key': key },
      credentials,
    }) as Promise<PaymentJson>;
  // Otherwise an invoice that had expired only while the clock was ahead stays open for days.
  const cancel = () =>
    sidecar
      .call('POST', '/v2/node/cancel_payment', { body: { index: created.index } })
      .catch((refusal) => expect(refusal).toBeInstanceOf(CallFailed));
  let paid: PaymentJson;
  try {
    paid = await pay();
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    expect(error.message).toMatch(/expired|budget/);
    await cancel();
    expect((await wait).status).toBe('failed');
    return null;
  }
  if (paid.status === 'failed') await cancel();
  const end = await wait;
  expect(end.status).toBe(paid.status);
  expect(await pay()).toEqual(paid);
  return end.status === 'completed' ? created.index : null;
}

/** The default wallet's stream of updates from now on. */
async function openEvents(sidecar: DevSidecar) {
  const gone = new AbortController();
  const response = await fetch(`${sidecar.baseUrl}/v2/node/events`, { signal: gone.signal });
  let text = '';
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  })().catch((error) => expect(gone.signal.aborted ? gone.signal.reason : null).toBe(error));
  return {
    /** Checks that the event ids increase, and that each of these payments was completed in exactly one event. */
    async expectAll(indexes: readonly string[]): Promise<void> {
      const ended = () =>
        [...text.matchAll(/^data: (.*)$/gm)]
          .map(([, data]) => JSON.parse(data ?? '') as PaymentJson)
          .filter(({ status }) => status === 'completed')
          .map(({ index }) => index);
      await eventually(() => ended().length >= indexes.length);
      expect(ended().toSorted()).toEqual(indexes.toSorted());
      const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '');
      expect(ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? ''))).toBe(true);
      gone.abort();
      await reading;
    },
  };
}
