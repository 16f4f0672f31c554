import { decodeBolt11 } from '../../codecs/bolt11/index.ts';
import { isPreimageOf } from '../../codecs/preimage.ts';
import { sealer } from '../../lib/secrets/seal.ts';
import { formatAmountMsat } from '../../model/amount.ts';
import { ApiError, internalUnlessApi, refused } from '../../model/errors.ts';
import { type FeePolicy, feeCapMsat } from '../../model/fee-cap.ts';
import type { Payment } from '../../model/payment.ts';
import { paymentId } from '../../model/payment-index.ts';
import type { RequestResource, ResourceAnswer } from '../../net/guarded-fetch.ts';
import {
  type Challenge,
  challengeIn,
  proofOf,
  type ResourceRequest,
} from '../../net/paid/index.ts';
import { serviceFailed } from '../../net/service-error.ts';
import type { Payer } from '../session/session.ts';
import { tellingSent } from '../session/telling-sent.ts';
import { planInvoicePayment } from './invoice.ts';
import { type SendContext, sendAndWait } from './send.ts';

/** A request for a web resource, and what it may cost. */
interface PaidRequest extends ResourceRequest {
  /** The largest amount with its routing fees, in millisatoshis. */
  readonly maxCostMsat: bigint;
  readonly personalNote: string | null;
  readonly externalId: string | null;
}

/** What a resource answered, and the payment that was made for it; null where none was. */
export interface PaidAnswer extends ResourceAnswer {
  readonly payment: Payment | null;
}

/** A challenge as the row of the Idempotency-Key keeps it, and as a token is kept. */
type Kept = Pick<Challenge, 'dialect' | 'token'> & { readonly invoice: string };

const PAYMENT_REQUIRED = 402;
/** What a service answers to a token or proof that it does not take. */
const NOT_TAKEN = [401, PAYMENT_REQUIRED];
/** Where proofs of payment are kept for further requests. */
const KIND = 'paid token';

/**
 * Asks for a web resource, and pays for it where it answers 402 (docs/decisions.md 186). What is paid is stored under
 * the request's key before the payment, so that a repeat pays nothing else and asks again with the proof. Errors carry
 * `data.sent`, which is `yes` where the payment was made and the resource was not given. Nothing leaves to an origin
 * that the caller may not fetch from at that moment, a repeat and a proof included: that is error 108
 * (docs/decisions.md 189).
 */
export async function fetchPaid(
  context: SendContext,
  request: PaidRequest,
  requestResource: RequestResource,
  fees: FeePolicy,
): Promise<PaidAnswer> {
  const { session, names, signal } = context;
  const ask: RequestResource = async (one, options) => {
    requireOrigin(session, one.url);
    return requestResource(one, options);
  };
  const before = names.earlier('challenge');
  const asked = await tellingSent(before === null ? 'no' : 'unknown', async () => {
    requireOrigin(session, request.url);
    if (before !== null) return before;
    const answer = await askWithToken(session, request, (one) => ask(one, { signal }));
    if (answer.status !== PAYMENT_REQUIRED) return answer;
    const { descriptor, clock } = session.node;
    const reading = { request, network: descriptor.network, nowMs: clock.now() };
    const challenge = challengeIn(answer.headers, reading);
    // The client may have been narrowed while the service was asked.
    requireOrigin(session, request.url);
    requireWithinCost(challenge, request);
    await requireUnpaid(session, challenge);
    const { dialect, token, invoice } = challenge;
    const kept: Kept = { dialect, token, invoice: invoice.text };
    return names.kept('challenge', async () => JSON.stringify(kept));
  });
  if (typeof asked !== 'string') return { ...asked, payment: null };
  const challenge: Kept = JSON.parse(asked);
  const payment = await sendAndWait(context, planOf(session, challenge, request, fees));
  if (payment.status === 'failed') {
    // A repeat asks for another invoice.
    await names.forget();
    const { index, statusMsg } = payment;
    throw refused(`The resource was not paid: ${statusMsg}.`).with({ sent: 'no', index });
  }
  return { ...(await askPaid(context, request, { challenge, payment, ask })), payment };
}

/**
 * Throws error 106 for an invoice that was paid before, or is being paid: its preimage would tell the service that this
 * wallet has paid somebody's invoice, and prove it.
 */
async function requireUnpaid(session: Payer, { invoice }: Challenge): Promise<void> {
  const earlier = await session.history.latest(paymentId('ln', invoice.paymentHash));
  if (earlier === null || earlier.status === 'failed') return;
  throw refused(
    'The service asks for an invoice that this wallet has paid or is paying: nothing was paid, and it is told nothing.',
  );
}

/** Throws error 108 for a URL whose origin the caller's credentials do not list. */
function requireOrigin({ client }: Pick<Payer, 'client'>, url: string): void {
  const origins = client()?.origins ?? null;
  const { origin } = new URL(url);
  if (origins === null || origins.includes(origin)) return;
  throw new ApiError(
    'forbidden',
    `These credentials may not fetch from ${origin}: it is not in their "origins". Ask the wallet's owner to add it.`,
    { data: { origins } },
  );
}

function requireWithinCost({ invoice }: Challenge, { maxCostMsat }: PaidRequest): void {
  const amountMsat = invoice.amountMsat ?? 0n;
  if (amountMsat <= maxCostMsat) return;
  throw refused(
    `The resource costs ${formatAmountMsat(amountMsat)} sats, more than max_cost: nothing was paid.`,
  );
}

function planOf(session: Payer, { invoice: text }: Kept, request: PaidRequest, fees: FeePolicy) {
  const invoice = decodeBolt11(text);
  const amountMsat = invoice.amountMsat ?? 0n;
  const leftMsat = request.maxCostMsat - amountMsat;
  const capMsat = feeCapMsat(amountMsat, null, fees);
  return planInvoicePayment(
    {
      invoice,
      amountMsat,
      maxFeeMsat: capMsat < leftMsat ? capMsat : leftMsat,
      personalNote: request.personalNote,
      externalId: request.externalId,
      message: null,
    },
    session,
    fees,
  );
}

/** Asks with the token that was paid for at this origin before, where there is one, and without it otherwise. */
async function askWithToken(
  session: Payer,
  request: PaidRequest,
  ask: (request: ResourceRequest) => Promise<ResourceAnswer>,
): Promise<ResourceAnswer> {
  const tokens = tokensOf(session, request.url);
  const header = await tokens.read();
  if (header === null) return ask(request);
  const answer = await ask(withHeader(request, header));
  if (!NOT_TAKEN.includes(answer.status)) return answer;
  // The service takes it no longer.
  await tokens.write(null);
  return ask(request);
}

/** Asks with the proof of payment. Throws error 113 where the resource is not given all the same. */
async function askPaid(
  { session, signal }: SendContext,
  request: PaidRequest,
  {
    challenge,
    payment,
    ask,
  }: { readonly challenge: Kept; readonly payment: Payment; readonly ask: RequestResource },
): Promise<ResourceAnswer> {
  const { index } = payment;
  try {
    const header = proofOf(challenge, preimageOf(payment));
    // Proofs of the other dialects are good for one request.
    if (challenge.dialect === 'l402') await tokensOf(session, request.url).write(header);
    const answer = await ask(withHeader(request, header), { signal });
    if (NOT_TAKEN.includes(answer.status) || answer.status >= 500) {
      throw serviceFailed(
        'unusable_answer',
        `The resource was paid and answered ${answer.status}: repeat the request with the same Idempotency-Key, which pays nothing more.`,
      );
    }
    return answer;
  } catch (error) {
    throw internalUnlessApi(error).with({ sent: 'yes', index });
  }
}

/** Returns the preimage of a completed payment. Throws error 5 for one that the invoice does not fit. */
function preimageOf({ preimage, hash }: Payment): string {
  if (isPreimageOf(preimage, hash)) return preimage;
  throw new ApiError(
    'unreadable',
    'The node shows no preimage of this payment: it proves nothing.',
  );
}

type Header = readonly [name: string, value: string];

function withHeader(request: ResourceRequest, [name, value]: Header): ResourceRequest {
  return { ...request, headers: { ...request.headers, [name]: value } };
}

/** The proof of payment that a caller keeps for an origin. Only the caller's own credential opens it. */
function tokensOf({ userPk, store, caller }: Payer, url: string) {
  const { origin } = new URL(url);
  const key = `${caller.id} ${origin}`;
  const seal = sealer(caller.sealKey);
  const place = { table: KIND, column: 'token', row: [userPk, key] };
  return {
    async read(): Promise<Header | null> {
      const sealed = await store.connectorState.get(userPk, KIND, key);
      if (typeof sealed !== 'string') return null;
      try {
        return JSON.parse(seal.open(sealed, place));
      } catch {
        // It was kept under another credential of the same caller.
        return null;
      }
    },
    write: (header: Header | null) =>
      store.connectorState.put(
        userPk,
        KIND,
        key,
        header && seal.seal(JSON.stringify(header), place),
      ),
  };
}
