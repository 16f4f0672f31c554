import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { decodeOffer, merkleRoot, type Offer } from '../../../codecs/bolt12/index.ts';
import { refused } from '../../../model/errors.ts';
import type { PaymentIndex } from '../../../model/payment-index.ts';
import type { CreateOfferCommand, FetchInvoiceCommand, ProofMaterial } from '../../node.ts';
import { type Behavior, type InvoiceRow, insertInvoice } from '../lightning/invoice-rows.ts';
import { findPayment } from '../world/payments.ts';
import { outsideKeys, walletKeys } from '../world/wallets.ts';
import type { World } from '../world/world.ts';
import {
  acceptInvoice,
  answerInvoiceRequest,
  askForInvoice,
  requirePayable,
  writeOffer,
} from './exchange.ts';

/** The issuer of an offer: a wallet of this world, or the outside world with its behavior. */
export type OfferIssuer =
  | { readonly kind: 'wallet'; readonly userPk: string }
  | { readonly kind: 'outside'; readonly behavior: Behavior };

/** Writes and stores an offer. Its issuer's node key signs the invoices for it. */
export function createOffer(
  world: World,
  issuer: OfferIssuer,
  command: CreateOfferCommand,
): { offer: string; offerId: string } {
  const offer = writeOffer({
    ...command,
    issuerSecretKey: issuerSecretKey(world, issuer),
    metadata: world.random(16),
  });
  world.transact(() =>
    world.db
      .query(
        'INSERT INTO offers (offer_id, offer, user_pk, behavior, created_ms) VALUES (?, ?, ?, ?, ?)',
      )
      .run(
        offer.offerId,
        offer.text,
        issuer.kind === 'wallet' ? issuer.userPk : null,
        issuer.kind === 'wallet' ? 'settle' : issuer.behavior,
        world.clock.now(),
      ),
  );
  return { offer: offer.text, offerId: offer.offerId };
}

/** The wish of a payer to pay an offer. */
export interface OfferOrder extends FetchInvoiceCommand {
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
  const request = askForInvoice({
    offer,
    amountMsat: order.amountMsat,
    message: order.message,
    viaName: order.viaName,
    payerSecretKey,
    metadata: world.random(32),
  });
  const issued = findOffer(world, offer);
  if (issued === null) return null;
  const { offerId, issuer } = issued;
  if (issuer.kind === 'wallet' && issuer.userPk === order.payerPk) {
    throw refused('The offer is your own; pay it from another wallet.');
  }

  const preimage = world.random(32);
  const answer = answerInvoiceRequest({
    requestBytes: request.bytes,
    offer: issued.offer,
    issuerSecretKey: issuerSecretKey(world, issuer),
    paymentHash: hex.encode(sha256(preimage)),
    nowMs,
  });
  const invoice = acceptInvoice(answer.bytes, request, nowMs);
  world.db
    .query(
      `INSERT INTO offer_invoices (payment_hash, offer_id, invoice_request, invoice,
         payer_pk, payer_secret_key) VALUES (?, ?, ?, ?, ?, ?)`,
    )
    .run(
      invoice.paymentHash,
      offerId,
      request.bytes,
      invoice.bytes,
      order.payerPk,
      order.payerPk === null ? null : payerSecretKey,
    );
  const row: InvoiceRow = {
    paymentHash: invoice.paymentHash,
    userPk: issuer.kind === 'wallet' ? issuer.userPk : null,
    index: null,
    preimage: hex.encode(preimage),
    behavior: issuer.kind === 'wallet' ? 'settle' : issuer.behavior,
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
export function claimFetched(
  world: World,
  payer: { readonly userPk: string; readonly index: PaymentIndex },
  paymentHash: string,
): string | null {
  const row = world.db
    .query<{ offer_id: string }, [string, string, string]>(
      `UPDATE offer_invoices SET payer_index = ?
       WHERE payment_hash = ? AND payer_pk = ? AND payer_index IS NULL RETURNING offer_id`,
    )
    .get(payer.index, paymentHash, payer.userPk);
  return row?.offer_id ?? null;
}

/**
 * Returns the material of a payer proof; null unless the payment is a completed outbound offer payment of the wallet.
 */
export function proofMaterial(
  world: World,
  userPk: string,
  index: PaymentIndex,
): ProofMaterial | null {
  const payment = findPayment(world, userPk, index);
  if (payment?.status !== 'completed' || payment.preimage === null) return null;
  const row = world.db
    .query<{ invoice: Uint8Array; payer_secret_key: Uint8Array }, [string, string]>(
      'SELECT invoice, payer_secret_key FROM offer_invoices WHERE payer_pk = ? AND payer_index = ?',
    )
    .get(userPk, index);
  return (
    row && {
      invoiceTlv: new Uint8Array(row.invoice),
      preimage: payment.preimage,
      payerSecretKey: new Uint8Array(row.payer_secret_key),
    }
  );
}

interface IssuedOffer {
  /** The id that it was issued under. Payments of it have this one, by which its receiver watches for them. */
  readonly offerId: string;
  readonly offer: Offer;
  readonly issuer: OfferIssuer;
}

function findOffer(world: World, { offerId, records }: Offer): IssuedOffer | null {
  // Versions up to 0.2.0 took the merkle root of the fields as the id (docs/decisions.md 157).
  const formerId = hex.encode(merkleRoot(records) ?? new Uint8Array());
  const row = world.db
    .query<
      { offer_id: string; offer: string; user_pk: string | null; behavior: Behavior },
      [string, string]
    >('SELECT offer_id, offer, user_pk, behavior FROM offers WHERE offer_id IN (?, ?)')
    .get(offerId, formerId);
  if (row === null) return null;
  const issuer: OfferIssuer =
    row.user_pk === null
      ? { kind: 'outside', behavior: row.behavior }
      : { kind: 'wallet', userPk: row.user_pk };
  return { offerId: row.offer_id, offer: decodeOffer(row.offer), issuer };
}

function issuerSecretKey(world: World, issuer: OfferIssuer): Uint8Array {
  return issuer.kind === 'wallet'
    ? walletKeys(world, issuer.userPk).nodeSecretKey
    : outsideKeys(world).nodeSecretKey;
}
