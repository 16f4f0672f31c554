import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { decodeOffer, merkleRoot, type Offer } from '../../../codecs/bolt12/index.ts';
import { keptDescription } from '../../../model/description.ts';
import { refused } from '../../../model/errors.ts';
import type { Payment } from '../../../model/payment.ts';
import type { PaymentIndex } from '../../../model/payment-index.ts';
import type { CreateOfferCommand, FetchInvoiceCommand, ProofMaterial } from '../../node.ts';
import { type InvoiceRow, insertInvoice } from '../lightning/invoice-rows.ts';
import { findPayment, type PaymentKey } from '../world/payments.ts';
import { firstRow, insertRow } from '../world/rows.ts';
import { outsideKeys, walletKeys } from '../world/wallets.ts';
import type { World } from '../world/world.ts';
import {
  acceptInvoice,
  answerInvoiceRequest,
  askForInvoice,
  METADATA_BYTES,
  type OfferParts,
  requirePayable,
  writeOffer,
} from './exchange.ts';

/** The issuer of an offer: a wallet of this world, which settles, or the outside world (null) with its behavior. */
export type OfferIssuer = Pick<InvoiceRow, 'userPk' | 'behavior'>;

/** Writes and stores an offer. Its issuer's node key signs the invoices for it. */
export function createOffer(
  world: World,
  issuer: OfferIssuer,
  command: CreateOfferCommand & Pick<OfferParts, 'price'>,
): { offer: string; offerId: string } {
  const offer = writeOffer({
    ...command,
    issuerSecretKey: issuerSecretKey(world, issuer),
    metadata: world.random(METADATA_BYTES),
  });
  const { offerId, text } = offer;
  const { userPk: user_pk, behavior } = issuer;
  const created_ms = world.clock.now();
  world.transact(() =>
    insertRow(world, 'offers', {
      offer_id: offerId,
      offer: text,
      user_pk,
      behavior,
      created_ms,
      external_id: command.externalId,
    }),
  );
  return { offer: text, offerId };
}

/** What a payment has of the offer on which it arrived. */
export function wordsOfOffer(
  world: World,
  offerId: string,
): Pick<Payment, 'description' | 'externalId'> | null {
  const row = firstRow<{ readonly offer: string; readonly externalId: string | null }>(
    world,
    'SELECT offer, external_id AS externalId FROM offers WHERE offer_id = ?',
    offerId,
  );
  return (
    row && {
      description: keptDescription(decodeOffer(row.offer).description),
      externalId: row.externalId,
    }
  );
}

interface OfferOrder extends FetchInvoiceCommand {
  /** What the payer calls itself; null for nothing. */
  readonly payerName: string | null;
  /** The paying wallet; null when the outside world pays. */
  readonly payerPk: string | null;
}

/**
 * Fetches an invoice for a wallet, as text. The wallet may then pay it. Throws `refused` when the offer cannot be paid
 * in this way, or nobody in this world made it.
 */
export function fetchInvoiceOf(world: World, userPk: string, command: FetchInvoiceCommand): string {
  return world.transact(() => {
    const fetched = fetchInvoice(world, { ...command, payerName: null, payerPk: userPk });
    if (fetched !== null) return fetched.text;
    throw refused('The node of this offer did not answer: ask the receiver whether it is online.');
  });
}

/** A fetched invoice: as its payer got it, and as it can be paid in this world. */
interface Fetched {
  readonly text: string;
  readonly row: InvoiceRow;
}

/**
 * Fetches an invoice for an offer: makes the payer's signed request, has the receiver check it and sign an invoice, and
 * checks that as the payer. Stores the invoice, and for the payer what a payer proof needs, within the caller's
 * database transaction. Returns null when no issuer of this world made the offer. Throws `refused` when the offer
 * cannot be paid, or not in this way.
 */
export function fetchInvoice(world: World, order: OfferOrder): Fetched | null {
  const nowMs = world.clock.now();
  const { offer } = order;
  requirePayable(offer, nowMs);
  const payerSecretKey = world.random(32);
  const request = askForInvoice({ ...order, payerSecretKey, metadata: world.random(32) });
  const issued = findOffer(world, offer);
  if (issued === null) return null;
  const { offerId, userPk, behavior } = issued;
  if (userPk !== null && userPk === order.payerPk) {
    throw refused('The offer is your own; pay it from another wallet.');
  }

  const preimage = world.random(32);
  const answer = answerInvoiceRequest({
    requestBytes: request.bytes,
    offer: issued.offer,
    issuerSecretKey: issuerSecretKey(world, issued),
    paymentHash: hex.encode(sha256(preimage)),
    nowMs,
  });
  const invoice = acceptInvoice(answer.bytes, request, nowMs);
  insertRow(world, 'offer_invoices', {
    payment_hash: invoice.paymentHash,
    offer_id: offerId,
    invoice_request: request.bytes,
    invoice: invoice.bytes,
    payer_pk: order.payerPk,
    payer_secret_key: order.payerPk === null ? null : payerSecretKey,
  });
  const row: InvoiceRow = {
    paymentHash: invoice.paymentHash,
    userPk,
    index: null,
    preimage: hex.encode(preimage),
    behavior,
    expiresAtMs: invoice.expiresAtSecs * 1000,
    offerId,
    payerName: order.payerName,
    message: request.payerNote,
  };
  insertInvoice(world, row);
  return { text: invoice.text, row };
}

/**
 * Makes an invoice that the wallet fetched that of its payment, within the caller's database transaction. Returns the
 * offer's id, or null when the wallet fetched no such invoice or it is another payment's.
 */
export function claimFetched(world: World, payer: PaymentKey, paymentHash: string): string | null {
  const row = firstRow<{ offerId: string }>(
    world,
    `UPDATE offer_invoices SET payer_index = ?
     WHERE payment_hash = ? AND payer_pk = ? AND payer_index IS NULL RETURNING offer_id AS offerId`,
    payer.index,
    paymentHash,
    payer.userPk,
  );
  return row?.offerId ?? null;
}

/** The material of a payer proof; null unless it is a completed outbound payment of an offer. */
export function proofMaterial(
  world: World,
  userPk: string,
  index: PaymentIndex,
): ProofMaterial | null {
  const payment = findPayment(world, userPk, index);
  if (payment?.status !== 'completed' || payment.preimage === null) return null;
  const row = firstRow<Pick<ProofMaterial, 'invoiceTlv' | 'payerSecretKey'>>(
    world,
    `SELECT invoice AS invoiceTlv, payer_secret_key AS payerSecretKey
     FROM offer_invoices WHERE payer_pk = ? AND payer_index = ?`,
    userPk,
    index,
  );
  return row && { ...row, preimage: payment.preimage };
}

interface IssuedOffer extends OfferIssuer {
  /** The id that it was issued under. Payments of it have this one, by which its receiver watches for them. */
  readonly offerId: string;
  readonly offer: Offer;
}

function findOffer(world: World, { offerId, records }: Offer): IssuedOffer | null {
  // Versions up to 0.2.0 took the merkle root of the fields as the id (docs/decisions.md 157).
  const formerId = hex.encode(merkleRoot(records) ?? new Uint8Array());
  const row = firstRow<OfferIssuer & { readonly offerId: string; readonly offer: string }>(
    world,
    `SELECT offer_id AS offerId, offer, user_pk AS userPk, behavior
     FROM offers WHERE offer_id IN (?, ?)`,
    offerId,
    formerId,
  );
  return row && { ...row, offer: decodeOffer(row.offer) };
}

function issuerSecretKey(world: World, { userPk }: OfferIssuer): Uint8Array {
  return (userPk === null ? outsideKeys(world) : walletKeys(world, userPk)).nodeSecretKey;
}
