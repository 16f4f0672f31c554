import { createHash } from 'node:crypto';
import { type Bolt11Invoice, decodeBolt11 } from '../codecs/bolt11/index.ts';
import { decodeOffer } from '../codecs/bolt12/index.ts';
import { sleep } from '../lib/sleep.ts';
import { formatAmountMsat } from '../model/amount.ts';
import type { PaymentJson } from '../model/payment.ts';
import { type Call, type Form, Refusal } from './caller.ts';
import { byHash, listed, outgoing, satsOf } from './payments.ts';

/** How long a call may take. Clients of phoenixd give one up after 90 seconds at most. */
const HOLD_SECS = 60;
/**
 * For how long after its end a payment is what the same call asks for, where nothing else tells a repeat from a second
 * payment: a client that lost the answer repeats within minutes (docs/decisions.md 199).
 */
const REPEAT_MS = 600_000;
/** The size of a transaction in vbytes for which the given fee rate bounds the fee. */
const MOST_VBYTES = 1000;

/** A payment as it stands, with what names it; null where that is not known. */
type Outcome = { readonly payment: PaymentJson | null; readonly id: string | null };

/** A payment to ask for: calls that have the `same` are one payment. The `hash` is that of an invoice. */
interface Order {
  readonly path: string;
  readonly body: object;
  readonly same: readonly unknown[];
  readonly hash?: string;
}

/** Reads a payment string of a field. Throws 400. */
export function decoded<T>(form: Form, field: string, decode: (text: string) => T): T {
  const text = form.required(field).toLowerCase();
  try {
    return decode(text.replace(/^lightning:/, ''));
  } catch {
    throw new Refusal(400, `${field}: cannot be read`);
  }
}

/** Returns the invoice of a form. Throws 400. */
export const invoiceOf = (form: Form): Bolt11Invoice => decoded(form, 'invoice', decodeBolt11);

/** Returns the amount of a form in sats. Throws 400, and 501 for `sendAll`. */
export function amountOf(form: Form): string | undefined {
  if (!form.fields.has('sendAll')) return form.whole('amountSat');
  throw new Refusal(501, 'sendAll: is not offered: give the amount as amountSat.');
}

/** Pays an invoice, once for its hash. */
export async function payInvoice(call: Call): Promise<object> {
  const { caller, form, paying } = call;
  const { text: invoice, paymentHash: hash } = invoiceOf(form);
  const body = { invoice, fallback_amount: amountOf(form) };
  const order = { path: '/v2/node/pay_invoice', body, same: [hash], hash };
  const name = `${caller.id} ${hash}`;
  paying.add(name);
  const outcome = placed(call, order).finally(() => paying.delete(name));
  return shown(await inTime(outcome, hash), hash);
}

/** Pays an offer, without an amount what it asks. */
export async function payOffer(call: Call): Promise<object> {
  const { text: offer, amountMsat } = decoded(call.form, 'offer', decodeOffer);
  const asked = amountMsat === null ? undefined : formatAmountMsat(amountMsat);
  const terms = { amount: amountOf(call.form) ?? asked, message: call.form.text('message') };
  const body = { offer, ...terms };
  return shown(await inTime(placed(call, { path: '/v2/node/pay_offer', body, same: [body] })));
}

/** Returns the call that pays a field of that form, a name or an LNURL, by the best way that it offers. */
export function payingBy(field: string, form: RegExp): (call: Call) => Promise<object> {
  return async (call) => {
    const payable = call.form.required(field);
    if (!form.test(payable)) throw new Refusal(400, `${field}: cannot be read`);
    const body = { payable, amount: amountOf(call.form), message: call.form.text('message') };
    return shown(await inTime(placed(call, { path: '/v2/node/pay', body, same: [body] })));
  };
}

/** Sends on chain. With another fee rate it is the same payment. */
export async function sendToAddress(call: Call): Promise<string | Response> {
  const { form } = call;
  const same = [form.required('address'), form.required('amountSat')];
  const body = { address: same[0], amount: amountOf(form), max_fee: mostFee(form) };
  return txidOf(await inTime(placed(call, { path: '/v2/node/pay_onchain', body, same })));
}

/** Raises the fee of the newest transaction that no block has, once to each fee rate. */
export async function bumpFee(call: Call): Promise<string | Response> {
  const query = { filter: 'pending', direction: 'outbound', rail: 'onchain' };
  const { payments } = await listed(call.caller, query);
  const newest = payments.find(({ txid }) => txid !== null);
  if (!newest) throw new Refusal(400, 'No transaction of this wallet waits for a block.');
  const body = { index: newest.index, max_fee: mostFee(call.form) };
  const key = keyOf(call, ['bumpfee', newest.txid, body.max_fee]);
  return txidOf(await inTime(ordered(call, '/v2/node/bump_fee', body, key)));
}

const mostFee = (form: Form): string =>
  String(Number(form.required('feerateSatByte') && form.whole('feerateSatByte')) * MOST_VBYTES);

const keyOf = ({ caller }: Call, parts: readonly unknown[]): string => {
  const named = JSON.stringify([caller.id, ...parts]);
  return `phoenixd ${createHash('sha256').update(named).digest('hex')}`;
};

/**
 * Asks for a payment under the key of its attempt. A call goes on with the last attempt of the same payment, or begins
 * one that is named by the attempt before it, so that each repeat finds the same key. An `externalId` has one attempt.
 */
async function placed(call: Call, { path, body, same, hash }: Order): Promise<Outcome> {
  const own = hash === undefined ? call.form.text('externalId') : undefined;
  const name = keyOf(call, own === undefined ? [path, ...same] : [path, 'externalId', own]);
  const external = hash === undefined ? { external_id: own ?? name } : {};
  const query = { direction: 'outbound', limit: '2', ...(hash ? { id_part: hash } : external) };
  const { payments } = await listed(call.caller, query).catch((error: unknown) => {
    // An invoice is paid once also by a client that may list nothing.
    if (hash && error instanceof Refusal && error.status === 403) return { payments: [] };
    throw error;
  });
  const [last, before] = own === undefined ? payments : [];
  const isRecent = call.nowMs - (last?.finalized_at ?? call.nowMs) < REPEAT_MS;
  const isMeant = last?.status !== 'failed' && (hash !== undefined || isRecent);
  const earlier = isMeant ? before : last;
  const key = earlier ? keyOf(call, [name, earlier.index]) : name;
  return ordered(call, path, { ...body, ...external }, key, hash).catch((error: unknown) => {
    // What cannot be asked again, such as with other terms, is told as it stands.
    if (last && isMeant) return { payment: last, id: last.index };
    throw error;
  });
}

/** Asks for a payment under that key. Throws {@link Refusal} only where this call has sent nothing. */
async function ordered(
  { caller }: Call,
  path: string,
  body: object,
  key: string,
  hash: string | null = null,
): Promise<Outcome> {
  // A little less, so that the answer is mostly the payment as it stands.
  const headers = { 'idempotency-key': key, prefer: `wait=${HOLD_SECS - 2}` };
  try {
    const payment = await caller.read<PaymentJson>('POST', path, { body, headers });
    return { payment, id: payment.index };
  } catch (error) {
    const { data = {}, code = null } = error instanceof Refusal ? error : {};
    // Error 111: the key, so the externalId, was used for another request.
    if (data.sent === 'no' || code === 111) throw error;
    return { payment: null, id: data.index ?? hash };
  }
}

/** The outcome, or what is known of it when the time of a call is over. The payment goes on. */
export async function inTime(
  outcome: Promise<Outcome>,
  hash: string | null = null,
): Promise<Outcome> {
  const over = new AbortController();
  const late = sleep(HOLD_SECS * 1000, over.signal).then(() => ({ payment: null, id: hash }));
  return Promise.race([outcome, late]).finally(() => over.abort());
}

/** A payment over Lightning as phoenixd answers it; with `isPaid: false` while its end is not known. */
function shown({ payment, id }: Outcome, hash: string | null = null): object {
  const paymentHash = payment?.hash ?? hash;
  const status = payment?.status_msg;
  if (payment?.status === 'failed') return { paymentHash, reason: status };
  if (payment?.status !== 'completed') return { paymentId: id, paymentHash, isPaid: false, status };
  const { amount, fees, preimage: paymentPreimage, txid: txId } = payment;
  const amounts = { recipientAmountSat: satsOf(amount), routingFeeSat: satsOf(fees) };
  return { ...amounts, paymentId: id, paymentHash, paymentPreimage, txId };
}

/** The id of a transaction as text. Readers take every text with status 200 for one. */
function txidOf({ payment, id }: Outcome): string | Response {
  if (payment?.status === 'failed') throw new Refusal(400, payment.status_msg);
  if (payment?.txid) return payment.txid;
  const state = payment?.status_msg ?? 'it is not known yet what became of it';
  return new Response(`Pending (${id}): ${state}. Repeat the call.`, { status: 202 });
}

/** The payment of a hash; one that is being asked for is pending, and never missing. */
export async function outgoingByHash(call: Call): Promise<object | null> {
  const { caller, id: paymentHash, paying, nowMs: createdAt } = call;
  const isPaying = () => paying.has(`${caller.id} ${paymentHash.toLowerCase()}`);
  const wasPaying = isPaying();
  const found = await byHash(call, 'outbound');
  if (found && (found.status !== 'failed' || !isPaying())) return outgoing(found);
  if (!wasPaying && !isPaying()) return null;
  const pending = { paymentId: paymentHash, preimage: '', isPaid: false, sent: 0, fees: 0 };
  return { type: 'outgoing_payment', subType: 'lightning', paymentHash, ...pending, createdAt };
}
