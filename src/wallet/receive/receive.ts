import { hex } from '@scure/base';
import { readOrLater } from '../../codecs/codec-error.ts';
import { paymentHashOf } from '../../codecs/preimage.ts';
import { formatNullableAmountMsat } from '../../model/amount.ts';
import { keptDescription } from '../../model/description.ts';
import { refused } from '../../model/errors.ts';
import {
  type AskedInvoice,
  addressMisfit,
  invoiceMisfit,
  OTHER_INVOICE,
  offerMisfit,
  UNREADABLE_INVOICE,
} from '../../model/made-for-receiving.ts';
import { isFinal, isHeld, type Payment } from '../../model/payment.ts';
import type { AddressType, CreatedInvoiceJson } from '../../model/receive.ts';
import type { CreatedInvoice, CreateInvoiceCommand } from '../../nodes/node.ts';
import type { Watch } from '../../store/ports.ts';
import type { EffectNames } from '../session/effect-names.ts';
import { keepMaker, keepOfferMaker } from '../session/own-payments.ts';
import { nodeGroup, type ServedWallet, watch } from '../session/session.ts';
import { rejectUnfit, requireFit } from '../session/unfit.ts';

/** An invoice to create, without the values that the wallet adds. */
export type InvoiceRequest = Omit<CreateInvoiceCommand, 'createdAtMs' | 'message' | 'preimage'>;

/** The terms of an invoice without a partner that takes a fee. */
export const NO_PARTNER = {
  partnerPk: null,
  partnerPropFeePpm: null,
  partnerBaseFeeMsat: null,
} satisfies Partial<InvoiceRequest>;

/** Creates an invoice and watches it, see {@link makeInvoice}. With a key, a repeat creates the same invoice. */
export async function issueInvoice(
  session: ServedWallet,
  request: InvoiceRequest,
  names: EffectNames,
): Promise<CreatedInvoice> {
  const preimage = names.isKeyed ? hex.encode(names.bytes('preimage')) : null;
  return makeInvoice(session, { ...request, message: null, preimage });
}

/** Creates an invoice and watches it before it is returned, and so can be paid (docs/decisions.md 90). */
export async function makeInvoice(
  wallet: ServedWallet,
  order: Omit<CreateInvoiceCommand, 'createdAtMs'>,
): Promise<CreatedInvoice> {
  const { node } = wallet;
  const { preimage } = order;
  const paymentHash = preimage === null ? null : paymentHashOf(preimage);
  const created = await requireInvoice(wallet, { ...order, paymentHash }, () =>
    node.createInvoice({ ...order, createdAtMs: node.clock.now() }),
  );
  // An invoice with a description hash does not hold it.
  const description = created.payment.description ?? keptDescription(order.description);
  const payment = { ...created.payment, description };
  await keepIssued(wallet, payment, [{ kind: 'payment', index: payment.index }]);
  return { ...created, payment };
}

/**
 * Returns the invoice that `make` asks the node for. Throws `unreadable` (error 5) unless it is what was asked for, and
 * the wallet's own (docs/decisions.md 160).
 */
export async function requireInvoice(
  wallet: ServedWallet,
  asked: Omit<CreateInvoiceCommand, 'createdAtMs' | 'preimage'> & Pick<AskedInvoice, 'paymentHash'>,
  make: () => Promise<CreatedInvoice>,
): Promise<CreatedInvoice> {
  // A connector reads the invoice too, to know when it expires.
  const created = await readOrLater(make, () => rejectUnfit(wallet, `made ${UNREADABLE_INVOICE}`));
  const terms = { ...asked, descriptionHash: asked.descriptionHash?.hash ?? null };
  const misfit = invoiceMisfit(created, terms, wallet.node.descriptor);
  const isOfPayment = created.payment.hash === created.paymentHash;
  const problem = misfit ?? (isOfPayment ? null : OTHER_INVOICE);
  requireFit(wallet, problem && `made ${problem}`);
  // A node that keeps no history keeps no price either.
  const price = asked.price ?? created.payment.price;
  return { ...created, payment: { ...created.payment, price } };
}

/** Stores an issued invoice's payment, its maker and its watches. The invoice must not be told before. */
export async function keepIssued(
  wallet: ServedWallet,
  payment: Payment,
  watches: readonly Watch[],
): Promise<void> {
  const { feed, node } = wallet;
  const observation = { payment, attempt: null };
  if (isFinal(payment) || isHeld(payment)) {
    // A repeat may find the invoice paid. Recording that ends the watch, so the watch must be stored first.
    await Promise.all([
      keepMaker(wallet, payment.index),
      ...watches.map((one) => watch(wallet, one)),
    ]);
    await feed.observe(observation, node);
  } else {
    // The writes are queued together, so that they share one commit.
    await Promise.all([
      keepMaker(wallet, payment.index),
      feed.observeIssued(observation, watches, node),
    ]);
  }
}

/** {@link issueInvoice} with its result as answers carry it (docs/api.md, Created invoice). */
export async function createInvoice(
  session: ServedWallet,
  request: InvoiceRequest,
  names: EffectNames,
): Promise<CreatedInvoiceJson> {
  return encodeCreated(await issueInvoice(session, request, names), request);
}

/** Returns a created invoice as answers carry it. */
export function encodeCreated(
  { payment, invoice, paymentHash, paymentSecret, expiresAtMs, lspFeeMsat }: CreatedInvoice,
  request: Pick<InvoiceRequest, 'description' | 'amountMsat'>,
): CreatedInvoiceJson {
  return {
    index: payment.index,
    invoice,
    description: request.description,
    amount: formatNullableAmountMsat(request.amountMsat),
    created_at: payment.createdAtMs,
    expires_at: expiresAtMs,
    payment_hash: paymentHash,
    payment_secret: paymentSecret,
    lsp_fee: formatNullableAmountMsat(lspFeeMsat ?? null),
  };
}

/**
 * Creates a reusable offer, and watches every payment that arrives on it. Throws `refused` where the node has made the
 * same offer for another `external_id`: what arrives on it could be of either.
 */
export async function createOffer(
  wallet: ServedWallet,
  request: {
    readonly description: string | null;
    readonly minAmountMsat: bigint | null;
    readonly expirationSecs: number | null;
    readonly externalId: string | null;
  },
): Promise<string> {
  const { expirationSecs, externalId } = request;
  const asked = {
    description: request.description,
    minAmountMsat: request.minAmountMsat,
    expiresAtMs: expirationSecs === null ? null : wallet.node.clock.now() + expirationSecs * 1000,
    externalId,
  };
  const made = await nodeGroup(wallet, 'offers').createOffer(asked);
  const misfit = offerMisfit(made, asked, wallet.node.descriptor);
  requireFit(wallet, misfit && `made ${misfit}`);
  const { offers } = wallet.store;
  if (!wallet.node.history && !(await offers.keep(wallet.userPk, made.offerId, externalId))) {
    throw refused(
      'The node has made this very offer with another external_id: give another description, so that it is another offer.',
    );
  }
  await keepOfferMaker(wallet, made.offerId, made.isNew ?? true);
  await watch(wallet, { kind: 'offer', offerId: made.offerId });
  return made.offer;
}

/** Returns an on-chain address that has no payments yet. Every payment that arrives on it is watched. */
export async function nextUnusedAddress(session: ServedWallet, type: AddressType): Promise<string> {
  const address = await nodeGroup(session, 'onchain').nextUnusedAddress(type);
  const misfit = addressMisfit(address, type, session.node.descriptor);
  requireFit(session, misfit && `made ${misfit}`);
  await watch(session, { kind: 'address', address });
  return address;
}
