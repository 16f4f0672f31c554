import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectNothingLost, totalSats } from './checks.ts';
import { unreliableReceiver } from './receiver.ts';
import { ROUNDS, SEED } from './seed.ts';
import { type FaultSidecar, freePort, randomFrom, startFaultSidecar } from './sidecar.ts';

const folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(
  `killed ${ROUNDS} times under load (seed ${SEED}): no notice is lost or invented, no money is made or lost`,
  async () => {
    const random = randomFrom(SEED);
    const receiver = unreliableReceiver(random);
    const start = () =>
      startFaultSidecar({
        dataDir: join(folder, 'data'),
        port: PORT,
        webhookUrl: receiver.url,
        env: receiver.env,
      });
    let sidecar = await start();
    const second = (await sidecar.call('POST', '/sandbox/wallets', { body: {} })) as {
      client_credentials: string;
    };
    const credentials = second.client_credentials;
    const total = await totalSats(sidecar, credentials);

    for (let round = 0; round < ROUNDS; round++) {
      const load = keepPaying(sidecar, credentials, `${SEED}-${round}`);
      await Bun.sleep(20 + Math.floor(random() * 250));
      await sidecar.kill();
      await load;
      sidecar = await start();
    }

    receiver.behave();
    expect(await totalSats(sidecar, credentials)).toBe(total);
    await expectNothingLost(sidecar, credentials, receiver);
    await sidecar.stop();
    await receiver.stop();
  },
  20 * 60_000,
);

const PORT = freePort();

/** Invoices of the first wallet, paid by the second, several at a time, until the sidecar is gone. */
async function keepPaying(
  sidecar: FaultSidecar,
  credentials: string,
  prefix: string,
): Promise<void> {
  const worker = async (name: string) => {
    for (let turn = 0; ; turn++) {
      const key = { 'idempotency-key': `${prefix}-${name}-${turn}` };
      const created = (await sidecar.call('POST', '/v2/node/create_invoice', {
        body: { amount: '7' },
        headers: key,
      })) as { invoice: string };
      await sidecar.call('POST', '/v2/node/pay_invoice', {
        body: { invoice: created.invoice },
        headers: key,
        credentials,
      });
    }
  };
  await Promise.allSettled(['a', 'b', 'c', 'd'].map(worker));
}
