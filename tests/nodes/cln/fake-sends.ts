import { blankPayment, type Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { followWallet } from '../../../src/nodes/cln/follow/updates.ts';
import type { PayInvoiceCommand, UpdatesOptions, WalletNode } from '../../../src/nodes/node.ts';
import { type Following, follow, payCommand } from '../../contracts/node/steps.ts';
import { until } from '../../support/until.ts';
import type { FakeCln } from './fake-cln.ts';
import { type FakeWallet, rpcOf } from './fake-wallet.ts';

/** A channel that can send, as the node lists it. */
export const USABLE_CHANNEL = {
  peer_id: `02${'cc'.repeat(32)}`,
  peer_connected: true,
  state: 'CHANNELD_NORMAL',
  spendable_msat: 1_000_000,
};

/** What the node answers when it lists these channels. */
export const listing = (channels: readonly object[] = [USABLE_CHANNEL]) =>
  Response.json({ channels }, { status: 201 });

/** An order for an invoice of 1,000 msat, for a fee of 10 msat at most. */
export function orderFor(
  wallet: FakeWallet,
  invoice: string,
  change: Partial<PayInvoiceCommand>,
): PayInvoiceCommand {
  return payCommand(wallet, invoice, { maxFeeMsat: 10n, ...change });
}

/** The row that the wallet has of a payment of 1,000 msat while it is under way. */
export function begunPayment(
  createdAtMs: number,
  hash: string,
  change: Partial<Payment> = {},
): Payment {
  const index = paymentIndex(createdAtMs, paymentId('ln', hash));
  const kind = { rail: 'invoice', direction: 'outbound' } as const;
  const pending = { status: 'pending', statusMsg: 'pending', updatedAtMs: createdAtMs } as const;
  const payment = blankPayment({ index, ...kind, ...pending, createdAtMs });
  return { ...payment, hash, amountMsat: 1000n, ...change };
}

/** A feed of the fake node's wallet; see {@link follow}. */
export function followFake(
  cln: FakeCln,
  wallet: FakeWallet,
  ...from: Parameters<typeof follow> extends [unknown, ...infer From] ? From : never
): Following {
  const rpc = rpcOf(cln);
  const node = { updates: (options: UpdatesOptions) => followWallet({ rpc, wallet }, options) };
  return follow(node as unknown as WalletNode, ...from);
}

/** A feed that opens now, once it has caught up and was ended. */
export async function feedNow(
  cln: FakeCln,
  wallet: FakeWallet,
  unfinished: readonly Payment[],
): Promise<Following> {
  const feed = followFake(cln, wallet, null, unfinished);
  try {
    await until(feed.isCaughtUp, 'the feed has caught up');
    return feed;
  } finally {
    await feed.end();
  }
}

/** What a feed told: each index with its last status. */
export const toldBy = ({ observations }: Following): Record<string, string> =>
  Object.fromEntries(observations.map(({ payment }) => [payment.index, payment.status]));
