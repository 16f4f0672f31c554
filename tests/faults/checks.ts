import { expect } from 'bun:test';
import type { DevSidecar } from '../support/dev-sidecar.ts';
import { sendOk } from '../support/requests.ts';
import type { UnreliableReceiver } from './receiver.ts';
import { sandboxPayments, sqlitePaymentRows } from './rows.ts';
import { tailByStream, tailByWaits } from './tails.ts';
import { eventually, expectOneTruth, type Tellers, unrefunded, type WalletPlace } from './truth.ts';

/** What both wallets hold, satoshis. */
export async function totalSats(sidecar: DevSidecar, credentials: string): Promise<number> {
  const infos = await Promise.all(
    [null, credentials].map((wallet) =>
      sidecar.call('GET', '/v2/node/node_info', wallet === null ? {} : { credentials: wallet }),
    ),
  );
  return infos.reduce(
    (sum: number, info) => sum + Number((info as { balance: string }).balance),
    0,
  );
}

/** Both wallets of a sandbox with its files in that folder, each with a tail by the event stream and one by waits. */
export function twoWallets(options: {
  readonly dataDir: string;
  /** Where the sidecar is, also after it was killed and started again. */
  readonly baseUrl: string;
  readonly second: string;
}): Tellers[] {
  const { dataDir, baseUrl } = options;
  return [undefined, options.second].map((credentials) => {
    const place = { baseUrl: () => baseUrl, credentials };
    return {
      baseUrl,
      credentials,
      rows: sqlitePaymentRows(dataDir),
      tails: [tailByStream(place), tailByWaits(place)],
      atNode: (payments, userPk) => {
        expect(sandboxPayments(dataDir, userPk)).toEqual(unrefunded(payments));
      },
      isWatched: ({ rail }) => rail === 'invoice',
    };
  });
}

/** Ends the tails of wallets. */
export async function stopTails(wallets: readonly Tellers[]): Promise<void> {
  await Promise.all(wallets.flatMap(({ tails }) => tails.map((tail) => tail.stop())));
}

/**
 * Checks both wallets (the second one pays) after the load has ended: all agree, every final payment of an invoice was
 * accepted under exactly one id, and no other was. The receiver must accept everything by then.
 */
export async function expectNothingLost(
  wallets: readonly Tellers[],
  receiver: UnreliableReceiver,
): Promise<void> {
  for (const wallet of wallets) {
    const payments = await expectOneTruth(wallet);
    const outbound = wallet.credentials !== undefined;
    const accepted = () => receiver.accepted(outbound);
    const due = payments
      .filter((payment) => payment.status !== 'pending' && wallet.isWatched(payment))
      .map(({ index }) => index);
    await eventually(async () => {
      // An attempt that was on its way when the receiver began to behave may be the last one of its delivery.
      await deliverEverything(wallet);
      const ids = accepted();
      return due.every((index) => ids.has(index));
    });
    expect([...accepted().keys()].toSorted()).toEqual(due);
    expect([...accepted()].filter(([, ids]) => ids.size !== 1)).toEqual([]);
    expect(due.length).toBeGreaterThan(0);
  }
  expect(receiver.invalid()).toEqual([]);
}

/** Deliveries that the receiver failed three times are kept, and sent again on request. */
export async function deliverEverything({ baseUrl, credentials }: WalletPlace): Promise<void> {
  const { deliveries } = (await sendOk(baseUrl, 'GET', '/v2/webhooks/deliveries', {
    query: { state: 'failed', limit: '500' },
    credentials,
  })) as { deliveries: { id: string }[] };
  for (const { id } of deliveries) {
    await sendOk(baseUrl, 'POST', '/v2/webhooks/redeliver', { body: { id }, credentials });
  }
}
