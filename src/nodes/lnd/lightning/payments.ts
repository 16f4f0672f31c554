import { base64, base64url, hex } from '@scure/base';
import { z } from 'zod';
import { paymentHashOf } from '../../../codecs/preimage.ts';
import { ApiError, ownNode } from '../../../model/errors.ts';
import { isFinal } from '../../../model/payment.ts';
import type {
  Observation,
  PayInvoiceCommand,
  PaySpontaneousCommand,
  SendReport,
} from '../../node.ts';
import { readAs } from '../../remote/calls/answer.ts';
import { unreadable } from '../../remote/calls/broken.ts';
import { reportOf } from '../../remote/orders/sends.ts';
import { maxSendableMsat } from '../reads/channels.ts';
import { pagesOf } from '../reads/pages.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndHandle, LndWallet } from '../reads/wallet.ts';
import { attemptOf } from '../words/attempt.ts';
import { refusesToPay } from '../words/certainty.ts';
import { keysendRecords } from '../words/keysend.ts';
import { isAlreadyThere, nullIfUnknown } from '../words/refusal.ts';
import { outboundObservation } from '../words/translate.ts';
import { type LndPayment, paymentShape } from '../words/wire.ts';

/** Seconds in which LND may begin new attempts; HTLCs on their way may take longer to end. */
const ATTEMPTS_SECS = 60;
/** LND shows a payment as soon as it has recorded it, so its first answer must come within this time. */
const FIRST_WITHIN_MS = 30_000;
/**
 * The longest silence of the answer to a send. A payment that is held is silent for longer, but so is a connection that
 * died without a sign, and the payment is looked up then (docs/decisions.md 176).
 */
const SEND_SILENCE_MS = 60_000;

/** Bit 9 of BOLT 9: the receiver reads records in its onion. LND asks for it where it knows no features. */
const TLV_ONION_FEATURE = 9;

/** Starts paying an invoice; see {@link startPayment}. */
export function payInvoice(node: LndHandle, command: PayInvoiceCommand): Promise<SendReport> {
  const { text, paymentHash, amountMsat } = command.invoice;
  return startPayment(node, command, paymentHash, {
    payment_request: text,
    ...(amountMsat === null ? { amt_msat: `${command.amountMsat}` } : {}),
  });
}

/** Starts a payment without an invoice (keysend); see {@link startPayment}. */
export async function paySpontaneous(
  { rest, owner, wallet }: LndHandle,
  command: PaySpontaneousCommand,
): Promise<SendReport> {
  const { nodePk, amountMsat, preimage, message } = command;
  if (nodePk === wallet.nodePk) return { state: 'refused', error: ownNode() };
  const paymentHash = paymentHashOf(preimage);
  // Only this wallet knows the preimage, so an attempt that LND has of its hash is of this payment.
  const order = { ...command, isRepeat: true };
  return startPayment({ rest, owner, wallet }, order, paymentHash, {
    dest: base64.encode(hex.decode(nodePk)),
    amt_msat: `${amountMsat}`,
    payment_hash: base64.encode(hex.decode(paymentHash)),
    dest_custom_records: keysendRecords(preimage, message),
    dest_features: [TLV_ONION_FEATURE],
  });
}

/**
 * Starts a payment and returns once LND has recorded it. Its outcome is published to the feed as it arrives; when the
 * connection breaks, it is looked up by hash, since LND continues to pay. Every payment has a fee limit, because LND's
 * own default is 0.
 */
async function startPayment(
  { rest, owner, wallet }: LndHandle,
  command: PayInvoiceCommand | PaySpontaneousCommand,
  paymentHash: string,
  request: Readonly<Record<string, unknown>>,
): Promise<SendReport> {
  try {
    await wallet.sendable.require(() => maxSendableMsat(owner), command);
  } catch (error) {
    if (error instanceof ApiError) return { state: 'refused', error };
    throw error;
  }
  const identified = (payment: LndPayment): Observation => {
    const seen = outboundObservation(payment, wallet.clock.now());
    const { index, createdAtMs } = command;
    return { ...seen, payment: { ...seen.payment, index, createdAtMs } };
  };
  const updates = rest.stream(
    'POST',
    '/v2/router/send',
    {
      ...request,
      fee_limit_msat: `${command.maxFeeMsat}`,
      timeout_seconds: ATTEMPTS_SECS,
    },
    paymentShape,
    wallet.closed,
    {
      certainty: refusesToPay,
      headWithinMs: FIRST_WITHIN_MS,
      silenceMs: SEND_SILENCE_MS,
      isPrepared: true,
    },
  );
  wallet.sending.add(paymentHash);
  try {
    const first = await updates.next();
    if (first.done) throw lostConnection();
    void followSend(updates, wallet, paymentHash, identified);
    return { state: 'known', ...identified(first.value) };
  } catch (error) {
    wallet.sending.delete(paymentHash);
    if (!(error instanceof ApiError)) throw error;
    if (!isAlreadyThere(error)) return reportOf(error);
    const present = await trackedPayment(owner, paymentHash).catch(() => null);
    if (present === null) return { state: 'unknown', error };
    // The request was written once, so LND's answer is that it made nothing for it. An earlier one may have.
    const mayBeOwn = command.isRepeat === true && present.value_msat === command.amountMsat;
    return mayBeOwn
      ? { state: 'known', ...identified(present) }
      : { state: 'taken', ...outboundObservation(present, wallet.clock.now()) };
  }
}

async function followSend(
  updates: AsyncGenerator<LndPayment, void>,
  wallet: LndWallet,
  paymentHash: string,
  identified: (payment: LndPayment) => Observation,
): Promise<void> {
  let ended = false;
  try {
    for await (const update of updates) {
      const seen = identified(update);
      ended = isFinal(seen.payment);
      wallet.local.publish([seen]);
    }
  } catch {
    // The stream broke or fell silent; the payment is looked up by its hash instead.
  } finally {
    wallet.sending.delete(paymentHash);
    if (!ended) wallet.local.requestLook();
  }
}

/** Returns the newest attempt for a payment hash in its present state, or null. */
export async function trackedPayment(
  rest: LndRest,
  paymentHash: string,
): Promise<LndPayment | null> {
  const path = `/v2/router/track/${base64url.encode(hex.decode(paymentHash))}`;
  // The first item is the present state; later changes are not needed here.
  return rest.first(path, paymentShape).catch(nullIfUnknown);
}

/**
 * Yields all payments of LND, a page at a time. Throws `unreadable` when one cannot be read, and for a list that is
 * longer than one look reads: what is not in it was not shown to be missing.
 */
export async function* everyPayment(
  rest: LndRest,
): AsyncGenerator<readonly LndPayment[], void, undefined> {
  let isWhole = false;
  for await (const { rows, isLast } of pagesOf(rest, 'payments', { after: 0 })) {
    isWhole = isLast;
    yield readAs('LND', z.array(paymentShape), rows);
  }
  if (!isWhole) throw unreadable('LND', new Error('the list of payments is too long'), false);
}

/**
 * Returns the number of the attempt that LND has for a hash; 0 where it has none. LND keeps one payment of a hash, the
 * newest attempt, so whatever it has later is later (docs/decisions.md 150).
 */
export function attemptNumber(present: LndPayment | null): number {
  return present === null ? 0 : attemptOf(present);
}

function lostConnection(): ApiError {
  return new ApiError('unreachable', 'LND closed the connection: look at the payment again.', {
    outcomeUnknown: true,
  });
}
