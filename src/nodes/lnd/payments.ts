import { base64url, hex } from '@scure/base';
import { decodeBolt11 } from '../../codecs/bolt11/index.ts';
import { formatAmountMsat } from '../../model/amount.ts';
import { ApiError, refused } from '../../model/errors.ts';
import { isFinal, type Payment } from '../../model/payment.ts';
import type { PayInvoiceCommand } from '../node.ts';
import { maxSendableMsat } from './channels.ts';
import { isUnknownToLnd, refusalText } from './refusal.ts';
import type { LndRest } from './rest.ts';
import { outboundPayment } from './translate.ts';
import type { LndWallet } from './wallet.ts';
import { type LndPayment, paymentShape } from './wire.ts';

/** For how long LND may begin new attempts; HTLCs on their way may outlast it. */
const ATTEMPTS_SECS = 60;
const TRACK_TIMEOUT_MS = 15_000;

/** LND's words (HTTP 409) for a hash that it is paying or has paid. */
const ALREADY_THERE = ['already paid', 'in transition', 'payment already exists'];

/**
 * Starts a payment and answers once LND has it; its outcome is then published as it comes, and looked up by hash
 * when the connection breaks, since LND pays on without us. Always sends a fee limit: LND's own default is 0.
 */
export async function payInvoice(
  rest: LndRest,
  wallet: LndWallet,
  command: PayInvoiceCommand,
): Promise<Payment> {
  const { paymentHash, amountMsat } = decodeBolt11(command.invoice, {
    // The wallet has checked it, and LND does again.
    verifySignature: false,
  });
  await requireSendable(rest, command.amountMsat);
  const identified = (payment: LndPayment): Payment => ({
    ...outboundPayment(payment, wallet.clock.now()),
    index: command.index,
    createdAtMs: command.createdAtMs,
  });
  const updates = rest.stream(
    'POST',
    '/v2/router/send',
    {
      payment_request: command.invoice,
      fee_limit_msat: `${command.maxFeeMsat}`,
      timeout_seconds: ATTEMPTS_SECS,
      ...(amountMsat === null ? { amt_msat: `${command.amountMsat}` } : {}),
    },
    paymentShape,
    wallet.closed,
  );
  wallet.sending.add(paymentHash);
  try {
    const first = await updates.next();
    if (first.done) throw lostConnection();
    void followSend(updates, wallet, paymentHash, identified);
    return identified(first.value);
  } catch (error) {
    wallet.sending.delete(paymentHash);
    if (!ALREADY_THERE.some((words) => refusalText(error).includes(words))) throw error;
    const known = await trackedPayment(rest, paymentHash);
    if (known === null) throw refused('LND refused to pay this invoice again.', error);
    return identified(known);
  }
}

/** LND would record a failed payment; what cannot be sent at all is refused before that (decisions section 2). */
async function requireSendable(rest: LndRest, amountMsat: bigint): Promise<void> {
  const sendableMsat = await maxSendableMsat(rest);
  if (amountMsat <= sendableMsat) return;
  throw refused(
    `The wallet can send ${formatAmountMsat(sendableMsat)} sats over Lightning now: pay less, or open a channel.`,
  );
}

async function followSend(
  updates: AsyncGenerator<LndPayment, void>,
  wallet: LndWallet,
  paymentHash: string,
  identified: (payment: LndPayment) => Payment,
): Promise<void> {
  let ended = false;
  try {
    for await (const update of updates) {
      const payment = identified(update);
      ended = isFinal(payment);
      wallet.local.publish([payment]);
    }
  } catch {
    // The outcome is asked for by hash instead.
  } finally {
    wallet.sending.delete(paymentHash);
    if (!ended) wallet.local.requestLook();
  }
}

/** The payment of that hash as LND knows it now, or null. */
export async function trackedPayment(
  rest: LndRest,
  paymentHash: string,
): Promise<LndPayment | null> {
  const path = `/v2/router/track/${base64url.encode(hex.decode(paymentHash))}`;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(TRACK_TIMEOUT_MS)]);
  try {
    // The first item is the state as it is; what follows is of no interest here.
    for await (const payment of rest.stream('GET', path, undefined, paymentShape, signal)) {
      return payment;
    }
  } catch (error) {
    if (isUnknownToLnd(error)) return null;
    throw error;
  } finally {
    stop.abort();
  }
  throw new ApiError('timeout', 'LND did not answer in time: try again.');
}

function lostConnection(): ApiError {
  return new ApiError('unreachable', 'LND closed the connection: look at the payment again.', {
    outcomeUnknown: true,
  });
}
