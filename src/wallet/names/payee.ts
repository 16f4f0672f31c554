import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import {
  type LnurlAnswer,
  lnurlError,
  metadataHash,
  type PayOrder,
  payMetadata,
  payRequest,
  readPayOrder,
} from '../../codecs/lnurl-answers.ts';
import { MSAT_PER_SAT } from '../../model/amount.ts';
import { type ApiError, isApiError } from '../../model/errors.ts';
import { paymentId } from '../../model/payment-index.ts';
import { usernameInput } from '../../model/receive.ts';
import { noteInput } from '../../model/text.ts';
import type { NameRecord } from '../../store/ports.ts';
import { makeInvoice, NO_PARTNER } from '../receive/receive.ts';
import type { ServedWallet } from '../session/session.ts';
import type { Names } from './names.ts';

/** The terms of every name: from 1 sat to 100 BTC, with a comment as long as messages may be (LUD-12). */
const TERMS = {
  minMsat: MSAT_PER_SAT,
  maxMsat: 100n * 100_000_000n * MSAT_PER_SAT,
  commentLength: 200,
} as const;

/** Seconds until the invoices expire. Wallets pay them at once. */
const EXPIRY_SECS = 600;

/** The most unpaid invoices of a name, and those of them for one source address (docs/decisions.md 100). */
const MOST_UNPAID = { most: 100, mostOfSource: 20 };

/** The answer to both calls for a name that is not claimed. */
export const UNKNOWN_PAYEE = lnurlError('There is no payee of that name here.');

const TOO_MANY_REQUESTS = 'Too many requests: try again in a minute.';
const TOO_MANY_UNPAID = 'This name has too many unpaid invoices: try again in ten minutes.';

const NOT_REACHED = 'The payee cannot be reached now: try again later.';

/** An error outside the two calls as payers read it, with nothing of the sidecar (docs/decisions.md 100). */
export function payeeProblem(error: ApiError): LnurlAnswer {
  return lnurlError(isApiError(error, 'rejected') ? error.message : NOT_REACHED);
}

interface PayerRequest {
  readonly amount?: string | undefined;
  readonly comment?: string | undefined;
  readonly source: string;
}

/**
 * Returns the first answer of a name's LNURL-pay service (LUD-06, LUD-16); null when the name is not claimed. It asks
 * no node, and says nothing of the wallet.
 */
export async function payeeTerms(
  names: Names,
  username: string,
  { source }: Pick<PayerRequest, 'source'>,
): Promise<LnurlAnswer | null> {
  if (!names.requestsOfSource.take(source)) return lnurlError(TOO_MANY_REQUESTS);
  const name = await find(names, username);
  return (
    name &&
    payRequest({
      ...TERMS,
      callback: names.callbackUrl(username),
      metadata: metadataOf(names, username),
    })
  );
}

/**
 * Returns the second answer: an invoice that commits to the terms (LUD-06); null when the name is not claimed. The
 * invoice is watched, and holds the payer's comment as its message. Every problem is an error of LNURL, and those of
 * the wallet and its node only stand in the log.
 */
export async function payeeInvoice(
  names: Names,
  username: string,
  request: PayerRequest,
): Promise<LnurlAnswer | null> {
  if (!names.requestsOfSource.take(request.source)) return lnurlError(TOO_MANY_REQUESTS);
  const name = await find(names, username);
  if (name === null) return null;
  const order = readPayOrder(TERMS, request);
  if (typeof order === 'string') return lnurlError(order);
  if (order.comment !== null && !noteInput().safeParse(order.comment).success) {
    return lnurlError('The comment is too long: shorten it.');
  }
  if (!names.invoicesOfName.take(name.walletId)) return lnurlError(TOO_MANY_REQUESTS);
  try {
    const invoice = await names.wallets.asOwner(name.walletId, name.nodeKind, (wallet) =>
      invoiceFor(names, wallet, { ...order, username, source: request.source }),
    );
    return invoice === null ? lnurlError(TOO_MANY_UNPAID) : { pr: invoice, routes: [] };
  } catch (error) {
    const { walletId } = name;
    names.log.warn('A payer of a name got no invoice.', { walletId, error });
    return lnurlError(
      isApiError(error, 'refused')
        ? 'The payee cannot take this payment: try another amount.'
        : NOT_REACHED,
    );
  }
}

/** Makes the invoice in a place among the unpaid ones. Returns null when there is no place left. */
async function invoiceFor(
  names: Names,
  wallet: ServedWallet,
  {
    username,
    source,
    amountMsat,
    comment,
  }: PayOrder & { readonly username: string; readonly source: string },
): Promise<string | null> {
  const { userPk } = wallet;
  const nowMs = wallet.node.clock.now();
  const preimage = names.random(32);
  const text = metadataOf(names, username);
  const id = paymentId('ln', hex.encode(sha256(preimage)));
  const place = {
    id,
    source: names.sourceTag(source),
    expiresAtMs: nowMs + EXPIRY_SECS * 1000,
  };
  const places = names.store.names;
  if (!(await places.takePlace(userPk, place, { nowMs, ...MOST_UNPAID }))) return null;
  try {
    const { invoice } = await makeInvoice(wallet, {
      expirationSecs: EXPIRY_SECS,
      amountMsat,
      description: null,
      descriptionHash: { hash: metadataHash(text), text },
      personalNote: null,
      externalId: null,
      message: comment,
      ...NO_PARTNER,
      preimage: hex.encode(preimage),
    });
    return invoice;
  } catch (error) {
    await places.givePlaceBack(userPk, id);
    throw error;
  }
}

/** A text that cannot be a username is not looked up. */
async function find({ store }: Names, username: string): Promise<NameRecord | null> {
  return usernameInput().safeParse(username).success ? store.names.find(username) : null;
}

function metadataOf({ domain }: Names, username: string): string {
  const address = `${username}@${domain}`;
  return payMetadata(address, address);
}
