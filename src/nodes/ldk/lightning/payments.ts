import { paymentHashOf } from '../../../codecs/preimage.ts';
import { ApiError, ownInvoice, ownNode } from '../../../model/errors.ts';
import type { PaymentId, PaymentIndex } from '../../../model/payment-index.ts';
import type {
  Observation,
  PayInvoiceCommand,
  PayOfferCommand,
  PaySpontaneousCommand,
  RoutingQuestion,
  SendOutcome,
  SendQuestion,
  SendReport,
} from '../../node.ts';
import { routeFeeWithHints } from '../../remote/orders/hinted-fee.ts';
import { asBegun, reportOf } from '../../remote/orders/sends.ts';
import { requireEnough } from '../../remote/place/sendable.ts';
import { readChannels, sendableMsat } from '../channels/channels.ts';
import type { LdkWallet } from '../process/wallet.ts';
import { isNeverSent, rowObservation, rowObservations } from '../words/translate.ts';
import { type LdkRow, shapes } from '../words/words.ts';

const UNKNOWN: SendOutcome = { state: 'unknown' };

/** Starts paying an invoice; see `WalletNode.payInvoice`. */
export async function payInvoice(
  wallet: LdkWallet,
  command: PayInvoiceCommand,
): Promise<SendReport> {
  const { text, paymentHash, amountMsat, payeePubkey } = command.invoice;
  if (payeePubkey === wallet.nodePk) return { state: 'refused', error: ownInvoice() };
  return start(wallet, command, byHash(paymentHash), 'pay_invoice', {
    bolt11: text,
    amount_msat: amountMsat === null ? command.amountMsat : null,
  });
}

/** Starts a payment without an invoice; see `NodeSpontaneous.pay`. */
export async function paySpontaneous(
  wallet: LdkWallet,
  command: PaySpontaneousCommand,
): Promise<SendReport> {
  const { nodePk, preimage, amountMsat, message } = command;
  if (nodePk === wallet.nodePk) return { state: 'refused', error: ownNode() };
  return start(wallet, command, byHash(paymentHashOf(preimage)), 'pay_keysend', {
    ...{ preimage, node_pk: nodePk, amount_msat: amountMsat, message },
  });
}

/** Starts paying an offer; see `NodeWholeOffers.payOffer`. The helper makes one attempt of an index, for ever. */
export async function payOffer(wallet: LdkWallet, command: PayOfferCommand): Promise<SendReport> {
  const { offer, amountMsat, message, index } = command;
  return start(wallet, command, { ref: index }, 'pay_offer', {
    ...{ offer: offer.text, amount_msat: amountMsat, message },
  });
}

/** By what the helper finds the newest attempt of a payment. */
type RowName = { readonly hash: string } | { readonly ref: string };

function byHash(hash: string): RowName {
  return { hash };
}

/** What names the attempts of a payment; null where nothing does. */
function nameOf({ rail, hash, index }: SendQuestion['payment']): RowName | null {
  if (rail === 'offer') return { ref: index };
  return hash === null ? null : byHash(hash);
}

function sendingKey(name: RowName): string {
  return 'ref' in name ? name.ref : name.hash;
}

/**
 * Asks the helper for an attempt under the payment's index. The helper makes one attempt of a hash at a time and none
 * after one that paid, so an attempt that is there is the payment's own where it has that index. Orders for one hash
 * wait for each other, so that none meets an attempt of which LDK has not said yet whether it takes it.
 */
function start(
  wallet: LdkWallet,
  command: PayInvoiceCommand | PaySpontaneousCommand | PayOfferCommand,
  name: RowName,
  method: 'pay_invoice' | 'pay_keysend' | 'pay_offer',
  order: Readonly<Record<string, unknown>>,
): Promise<SendReport> {
  return wallet.locks.run(`send ${sendingKey(name)}`, () =>
    ask(wallet, command, name, method, order),
  );
}

async function ask(
  ...[wallet, command, name, method, order]: Parameters<typeof start>
): Promise<SendReport> {
  const { index, amountMsat, maxFeeMsat } = command;
  const key = sendingKey(name);
  wallet.sending.add(key);
  let isLate = false;
  try {
    const present = await newestRow(wallet, name);
    if (!isStanding(present)) requireEnough(amountMsat, await sendableMsat(wallet.helper));
    const { row, taken } = await wallet.helper.call(
      method,
      { ...order, max_fee_msat: maxFeeMsat, ref: index },
      shapes().taken,
    );
    if (row.state === 'asked') return reportOf(cut());
    if (taken && row.ref !== index) return { state: 'taken', ...rowObservation(row) };
    return { state: 'known', ...rowObservation(row) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    isLate = error.kind === 'timeout';
    // LDK may have refused an attempt that was written down before: that payment was begun, and has failed.
    const row = error.kind === 'refused' ? await newestRow(wallet, name).catch(() => null) : null;
    if (row?.state === 'failed' && row.ref === index) {
      return { state: 'known', ...rowObservation(row) };
    }
    return reportOf(error);
  } finally {
    // A helper that was stopped for a while may read the request still.
    if (!isLate) wallet.sending.delete(key);
  }
}

/** An earlier run of the node ended while it asked LDK for this attempt, and nobody knows yet whether LDK took it. */
function cut(): ApiError {
  const message = 'The LDK node has to find out first whether it has sent this payment.';
  return new ApiError('unreachable', message, { outcomeUnknown: true });
}

/** Whether an attempt is on its way, or has paid. */
function isStanding(row: LdkRow | null): boolean {
  return row !== null && row.state !== 'failed';
}

/** Finds out what became of a Lightning send; see `WalletNode.sendOutcome`. */
export async function lightningOutcome(
  wallet: LdkWallet,
  { payment, attempt, afterAttempt }: SendQuestion,
): Promise<SendOutcome> {
  const name = nameOf(payment);
  if (name === null || wallet.sending.has(sendingKey(name))) return UNKNOWN;
  const row =
    attempt === null ? await newestRow(wallet, name) : await rowOfKey(wallet, `out:${attempt}`);
  const isLater = row !== null && (row.attempt ?? 0) > (afterAttempt ?? 0);
  if (row !== null && (isLater || row.attempt === attempt)) {
    // The helper has exclusive use of its state: what it asked LDK for in an earlier run, it finds out by itself.
    if (row.state === 'asked') return UNKNOWN;
    if (!isNeverSent(row)) {
      const seen = rowObservation(row);
      const isOther = row.ref !== null && row.ref !== payment.index;
      if (!isOther) return { state: 'known', ...asBegun(seen, payment) };
      if (row.state === 'completed') return { state: 'taken', ...seen };
    }
  } else if (row?.state === 'completed') {
    return { state: 'taken', ...rowObservation(row) };
  }
  return { state: 'never', reason: 'not sent' };
}

/** The number of the newest attempt of a payment id; 0 without one. */
export async function newestAttempt(wallet: LdkWallet, id: PaymentId): Promise<number> {
  if (!id.startsWith('ln_')) return 0;
  const row = await newestRow(wallet, byHash(id.slice('ln_'.length)));
  return row?.attempt ?? 0;
}

/** What routing would cost now, in millisatoshis; null for a receiver that is reached by neither a peer nor a hint. */
export async function estimateRoutingFeeMsat(
  { helper, nodePk: ownPk }: LdkWallet,
  question: RoutingQuestion,
): Promise<bigint | null> {
  const channels = await readChannels(helper);
  // ldk-node finds no route for others; a peer is paid without a fee.
  return routeFeeWithHints(ownPk, question, async (nodePk, amountMsat) =>
    channels.some((one) => one.usable && one.peer === nodePk && one.out_msat >= amountMsat)
      ? 0n
      : null,
  );
}

/** The newest row of an outgoing payment, or null. */
function newestRow({ helper }: LdkWallet, name: RowName): Promise<LdkRow | null> {
  return helper.call('row', name, shapes().rowOrNull);
}

function rowOfKey(wallet: LdkWallet, key: string): Promise<LdkRow | null> {
  return wallet.helper.call('row', { key }, shapes().rowOrNull);
}

/** The payment of an offer that was asked for under an index; null without one. */
export async function offerPayment(
  wallet: LdkWallet,
  index: PaymentIndex,
): Promise<Observation | null> {
  const row = await newestRow(wallet, { ref: index });
  return (row && rowObservations(row)[0]) ?? null;
}

/** The newest Lightning payment of a hash, in either direction; null without one. */
export async function lightningPayment(
  wallet: LdkWallet,
  hash: string,
): Promise<Observation | null> {
  const [sent, received] = await Promise.all([
    newestRow(wallet, byHash(hash)),
    rowOfKey(wallet, `in:${hash}`),
  ]);
  const [shown] = sent === null ? [] : rowObservations(sent);
  return shown ?? (received && rowObservation(received));
}
