import type { Invalid } from '../bigsize.ts';
import { NETWORKS } from '../network.ts';
import { decodeTlvStream, encodeTlvStream, type TlvRecord } from '../tlv.ts';
import type { BlindedPath } from './blinded-path.ts';
import { OFFER_FIELDS, readFields, writeFields } from './fields.ts';
import { invalidDocument } from './invalid-document.ts';
import { offerIdOf } from './offer-id.ts';
import { isOfferType } from './ranges.ts';
import { decodeBolt12String, encodeBolt12String, joinBolt12Parts } from './string.ts';
import { safeNumber, unknownEvenBit } from './values.ts';

/** A valid BOLT 12 offer. Fields that it does not have are null. */
export interface Offer {
  /** The canonical string: lower case, no `+`. */
  readonly text: string;
  /** Genesis hashes of the chains it may be paid on, wire order, hex; Bitcoin alone when the offer names none. */
  readonly chains: readonly string[];
  readonly metadata: Uint8Array | null;
  /** The ISO 4217 code of the currency of `amount`; null: `amount` is in millisatoshis. */
  readonly currency: string | null;
  /** The least amount for each item: in the smallest unit of `currency`, such as cents, or in millisatoshis. */
  readonly amount: bigint | null;
  /** `amount` when it is in millisatoshis, otherwise null. */
  readonly amountMsat: bigint | null;
  readonly description: string | null;
  readonly features: Uint8Array | null;
  /** Whole seconds since 1970; a number that a double cannot hold exactly is read as `Number.MAX_SAFE_INTEGER`. */
  readonly absoluteExpirySecs: number | null;
  readonly paths: readonly BlindedPath[] | null;
  /** For each path the key that signs invoices if the offer has no `issuerId`; empty without paths. */
  readonly pathsLastBlindedNodeIds: readonly string[];
  readonly issuer: string | null;
  /** The most items of one invoice; 0: no limit; null: the offer is not sold by quantity. */
  readonly quantityMax: bigint | null;
  readonly issuerId: string | null;
  /** The id of the offer, hex; see {@link offerIdOf}. */
  readonly offerId: string;
  /** All fields in order, including unknown odd ones. An invoice request repeats them. */
  readonly records: readonly TlvRecord[];
}

/** The values that an offer is written from; meaning and units are those of `Offer`. */
export interface OfferFields {
  /** If this is left out, the offer is for Bitcoin. */
  readonly chains?: readonly string[];
  readonly metadata?: Uint8Array;
  readonly currency?: string;
  readonly amount?: bigint;
  readonly description?: string;
  readonly features?: Uint8Array;
  readonly absoluteExpirySecs?: number;
  readonly paths?: readonly BlindedPath[];
  readonly issuer?: string;
  readonly quantityMax?: bigint;
  readonly issuerId?: string;
  /** Further fields with odd types in the offer's ranges. */
  readonly otherRecords?: readonly TlvRecord[];
}

const invalid: Invalid = invalidDocument('bolt12', 'offer', 'ask its issuer for a new one');

/** Reads an offer by every rule that BOLT 12 gives readers and that needs no clock; `text` is canonical. */
function offerOf(bytes: Uint8Array, text: string): Offer {
  const records = decodeTlvStream(bytes, invalid);
  const stray = records.find(({ type }) => !isOfferType(type));
  if (stray !== undefined) invalid(`it has field ${stray.type}, which offers cannot have`);
  const values = readFields(OFFER_FIELDS, records, invalid);
  const { offerAmount: amount, offerCurrency: currency, offerPaths: paths } = values;
  if (amount === 0n) invalid('offer_amount is zero');
  if (amount !== null && values.offerDescription === null) {
    invalid('it has offer_amount but no offer_description');
  }
  if (currency !== null && amount === null) invalid('it has offer_currency but no offer_amount');
  if (values.offerIssuerId === null && paths === null) {
    invalid(
      'it has neither offer_issuer_id nor offer_paths, so no node can be asked for an invoice',
    );
  }
  const bit = unknownEvenBit(values.offerFeatures ?? new Uint8Array(), []);
  if (bit !== null) invalid(`it requires feature ${bit}, which is not supported`);

  return {
    text,
    chains: values.offerChains ?? [NETWORKS.bitcoin.chainHash],
    metadata: values.offerMetadata,
    currency,
    amount,
    amountMsat: currency === null ? amount : null,
    description: values.offerDescription,
    features: values.offerFeatures,
    absoluteExpirySecs: safeNumber(values.offerAbsoluteExpiry),
    paths,
    pathsLastBlindedNodeIds: lastBlindedNodeIds(paths),
    issuer: values.offerIssuer,
    quantityMax: values.offerQuantityMax,
    issuerId: values.offerIssuerId,
    offerId: offerIdOf(records),
    records,
  };
}

/** Returns the last hop's `blinded_node_id` of each path, which signs if there is no `offer_issuer_id` (BOLT 12). */
export function lastBlindedNodeIds(paths: readonly BlindedPath[] | null): string[] {
  return (paths ?? []).flatMap(({ hops }) => hops.slice(-1).map((hop) => hop.blindedNodeId));
}

/**
 * Reads an offer (`lno1...`), by every rule that BOLT 12 gives readers and that needs neither a clock nor knowledge of
 * the node. `offerUnpayableReason` checks the other rules. Throws `CodecError('bolt12')`.
 */
export function decodeOffer(text: string): Offer {
  const bytes = decodeBolt12String(text, 'lno', invalid);
  // A stream has one encoding, so that only case and joints can differ from the canonical string.
  return offerOf(bytes, joinBolt12Parts(text).toLowerCase());
}

/** Writes an offer. Throws `CodecError('bolt12')` for an offer that would be invalid for `decodeOffer`. */
export function encodeOffer(fields: OfferFields): string {
  const records = writeFields(
    OFFER_FIELDS,
    {
      offerChains: fields.chains ?? null,
      offerMetadata: fields.metadata ?? null,
      offerCurrency: fields.currency ?? null,
      offerAmount: fields.amount ?? null,
      offerDescription: fields.description ?? null,
      offerFeatures: fields.features ?? null,
      offerAbsoluteExpiry:
        fields.absoluteExpirySecs === undefined ? null : BigInt(fields.absoluteExpirySecs),
      offerPaths: fields.paths ?? null,
      offerIssuer: fields.issuer ?? null,
      offerQuantityMax: fields.quantityMax ?? null,
      offerIssuerId: fields.issuerId ?? null,
    },
    fields.otherRecords ?? [],
    invalid,
  );
  const bytes = encodeTlvStream(records);
  return offerOf(bytes, encodeBolt12String('lno', bytes)).text;
}

/** Whether an offer has expired (`offer_absolute_expiry`): no invoices must be requested any more. */
export function isOfferExpired(offer: Offer, nowSecs: number): boolean {
  return offer.absoluteExpirySecs !== null && nowSecs > offer.absoluteExpirySecs;
}

/**
 * Returns why a node on the chain `chainHash` (wire order, hex) cannot pay the offer at `nowSecs`, as one sentence for
 * the payer. Null when nothing in the offer prevents it.
 */
export function offerUnpayableReason(
  offer: Offer,
  { chainHash, nowSecs }: { chainHash: string; nowSecs: number },
): string | null {
  if (!offer.chains.includes(chainHash)) {
    return 'The offer is for another network; ask its issuer for one on the network of this wallet.';
  }
  if (isOfferExpired(offer, nowSecs)) {
    return 'The offer has expired; ask its issuer for a new one.';
  }
  return null;
}
