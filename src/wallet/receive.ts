import { hex } from '@scure/base';
import { expiresAtMsOf } from '../codecs/bolt11/index.ts';
import { formatNullableAmountMsat } from '../model/amount.ts';
import { isFinal } from '../model/payment.ts';
import type { CreatedInvoiceJson } from '../model/receive.ts';
import type { CreatedInvoice, CreateInvoiceCommand } from '../nodes/node.ts';
import type { EffectNames } from './effect-names.ts';
import { nodeGroup, type Session, watch } from './session.ts';

/** An invoice to create, without what the wallet adds itself. */
export type InvoiceRequest = Omit<CreateInvoiceCommand, 'createdAtMs' | 'preimage'>;

/** Creates an invoice and watches it. It is answered, and so can be paid, only once it is watched. */
export async function issueInvoice(
  session: Session,
  request: InvoiceRequest,
  names: EffectNames,
): Promise<CreatedInvoice> {
  const createdAtMs = session.node.clock.now();
  const preimage = names.isKeyed ? hex.encode(names.bytes('preimage')) : null;
  const created = await session.node.createInvoice({ ...request, createdAtMs, preimage });
  const { payment } = created;
  const watched = () => watch(session, { kind: 'payment', index: payment.index });
  const recorded = () => session.feed.record({ payment, attempt: null }, session.node);
  if (isFinal(payment)) {
    // A repeat finds it over, which ends the watch only once it is there.
    await watched();
    await recorded();
  } else {
    // Side by side, so that both become durable in one commit.
    await Promise.all([watched(), recorded()]);
  }
  return created;
}

/** {@link issueInvoice}, as HTTP answers carry its result. */
export async function createInvoice(
  session: Session,
  request: InvoiceRequest,
  names: EffectNames,
): Promise<CreatedInvoiceJson> {
  const created = await issueInvoice(session, request, names);
  const { payment, invoice, paymentHash, paymentSecret } = created;
  return {
    index: payment.index,
    invoice,
    description: request.description,
    amount: formatNullableAmountMsat(request.amountMsat),
    created_at: payment.createdAtMs,
    expires_at: expiresAtMsOf(invoice),
    payment_hash: paymentHash,
    payment_secret: paymentSecret,
  };
}

/** Creates a reusable offer and watches every payment that will arrive on it. */
export async function createOffer(
  session: Session,
  request: {
    readonly description: string | null;
    readonly minAmountMsat: bigint | null;
    readonly expirationSecs: number | null;
  },
): Promise<string> {
  const { expirationSecs } = request;
  const { offer, offerId } = await nodeGroup(session, 'offers').createOffer({
    description: request.description,
    minAmountMsat: request.minAmountMsat,
    expiresAtMs: expirationSecs === null ? null : session.node.clock.now() + expirationSecs * 1000,
  });
  await watch(session, { kind: 'offer', offerId });
  return offer;
}

/** An address without payments so far, watched (contract, get_next_unused_address). */
export async function nextUnusedAddress(session: Session): Promise<string> {
  const address = await nodeGroup(session, 'onchain').nextUnusedAddress();
  await watch(session, { kind: 'address', address });
  return address;
}
