import { decodeBolt11 } from '../codecs/bolt11/index.ts';
import { parseAmountMsat, wholeSats } from '../model/amount.ts';
import type { PaymentJson } from '../model/payment.ts';
import { type Call, type Caller, Refusal } from './caller.ts';

type Query = Readonly<Record<string, string>>;
type Side = 'inbound' | 'outbound';

const msatOf = (amount: string | null): bigint => parseAmountMsat(amount ?? '0') ?? 0n;
/** Sats of amounts of the application together, rounded down as phoenixd does. */
export const satsOf = (...amounts: (string | null)[]): number =>
  Number(wholeSats(amounts.reduce((sum, one) => sum + msatOf(one), 0n)));

/** The BOLT 11 invoice of a payment. Earlier versions stored those of BOLT 12 there, on Core Lightning. */
export const bolt11Of = ({ invoice }: PaymentJson): string | null =>
  invoice?.startsWith('lni1') ? null : invoice;

/** Lists payments of the caller, the newest first, up to the present state of the node. */
export async function listed(
  caller: Caller,
  query: Query,
): Promise<{ readonly payments: readonly PaymentJson[]; readonly next_index?: string | null }> {
  await caller.read('PUT', '/v2/node/sync_payments', { body: {} });
  return caller.read('GET', '/v2/node/list_payments', { query: { filter: 'all', ...query } });
}

/** Returns the payment of a hash, of several attempts the one that counts; null where there is none. */
export async function byHash(
  { caller, id }: Pick<Call, 'caller' | 'id'>,
  direction: Side,
): Promise<PaymentJson | null> {
  const hash = id.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash))
    throw new Refusal(400, 'paymentHash: must be 64 hex characters');
  // The id of a payment by offer is not its hash.
  for (const query of [{ id_part: hash }, { text: hash }]) {
    const { payments } = await listed(caller, { direction, ...query });
    const found = payments.filter((one) => one.hash === hash);
    const ranked = ['completed', 'pending', 'failed'].map((one) =>
      found.find(({ status }) => status === one),
    );
    const best = ranked.find(Boolean);
    if (best) return best;
  }
  return null;
}

/** Lists at most 1000 payments, by `from`, `to`, `limit`, `offset`, `all` and `externalId`. */
export async function page({ caller, form, nowMs }: Call, direction: Side): Promise<object[]> {
  let skipped = Number(form.whole('offset') ?? 0);
  const most = Math.min(Number(form.whole('limit') ?? 20), 1000);
  const until = form.whole('to');
  const external_id = form.text('externalId');
  const query = {
    ...{ direction, limit: '1000', since: form.whole('from') ?? '0' },
    ...(until && { until: String(Number(until) + 1) }),
    ...(external_id && { external_id }),
  };
  const isSent = direction === 'outbound';
  const counts = ({ status, hash }: PaymentJson) =>
    (isSent || hash !== null) &&
    (form.text('all') === 'true' || status === 'completed' || (isSent && status === 'pending'));
  const found: PaymentJson[] = [];
  for (let after: string | null = ''; after !== null && found.length < most; ) {
    const cursor = after === '' ? {} : { after };
    const { payments, next_index = null } = await listed(caller, { ...query, ...cursor });
    const counted = payments.filter(counts);
    found.push(...counted.slice(skipped));
    skipped = Math.max(0, skipped - counted.length);
    after = next_index;
  }
  return found.slice(0, most).map((one) => (isSent ? outgoing(one) : incoming(one, nowMs)));
}

/** A payment to this wallet. Amounts are in sats, `fees` in millisatoshis. */
export function incoming(payment: PaymentJson, nowMs: number): object {
  const { expires_at: expiresAt } = payment;
  const invoice = bolt11Of(payment);
  const isPaid = payment.status === 'completed';
  const asked = invoice === null ? null : decodeBolt11(invoice, { verifySignature: false });
  return {
    type: 'incoming_payment',
    subType: 'lightning',
    paymentHash: payment.hash,
    // Readers take it for a text. It is known once the payment has arrived.
    preimage: payment.preimage ?? '',
    externalId: payment.external_id,
    description: payment.description,
    invoice,
    isPaid,
    isExpired: !isPaid && expiresAt !== null && expiresAt < nowMs,
    requestedSat: asked?.amountMsat && wholeSats(asked.amountMsat),
    receivedSat: isPaid ? satsOf(payment.amount) : 0,
    fees: msatOf(payment.fees),
    payerNote: payment.message,
    expiresAt,
    completedAt: isPaid ? payment.finalized_at : null,
    createdAt: payment.created_at,
  };
}

/** A payment of this wallet: `sent` in sats with fees, `fees` in millisatoshis. Unpaid and completed is failed. */
export function outgoing(payment: PaymentJson): object {
  return {
    type: 'outgoing_payment',
    subType: payment.rail === 'onchain' ? 'splice_out' : 'lightning',
    paymentId: payment.index,
    paymentHash: payment.hash,
    preimage: payment.preimage ?? '',
    txId: payment.txid,
    isPaid: payment.status === 'completed',
    sent: satsOf(payment.amount, payment.fees),
    fees: msatOf(payment.fees),
    invoice: bolt11Of(payment),
    status: payment.status_msg,
    completedAt: payment.finalized_at,
    createdAt: payment.created_at,
  };
}
