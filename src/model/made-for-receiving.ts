import { decodeAddress } from '../codecs/address.ts';
import { decodeBolt11 } from '../codecs/bolt11/index.ts';
import { decodeOffer } from '../codecs/bolt12/index.ts';
import { readOr } from '../codecs/codec-error.ts';
import { NETWORKS, type Network } from '../codecs/network.ts';
import type { AddressType } from './receive.ts';

/**
 * What a node made for receiving, compared with what it was asked for (docs/decisions.md 160). Each function returns
 * what does not fit, as the end of a sentence that begins with "The node made"; null when all fits. The words hold
 * nothing that the node said.
 */

interface Receiver {
  /** Hex node key of the wallet. */
  readonly nodePk: string;
  readonly network: Network;
}

/** The terms of an invoice that was asked for. */
export interface AskedInvoice {
  readonly amountMsat: bigint | null;
  readonly description: string | null;
  /** Hex; null where the invoice holds its description. */
  readonly descriptionHash: string | null;
  readonly expirationSecs: number;
  /** Hex; null where the node draws the preimage. */
  readonly paymentHash: string | null;
}

/** An invoice as the node told of it; hashes and secrets are hex. */
export interface ToldInvoice {
  readonly invoice: string;
  readonly paymentHash: string;
  readonly paymentSecret: string;
  /** The expiry that the invoice encodes (docs/decisions.md 27). */
  readonly expiresAtMs: number;
}

const ADDRESS_KIND = { segwit: 'p2wpkh', taproot: 'p2tr' } as const satisfies Record<
  AddressType,
  string
>;

/** What is said of an invoice that differs from what the node tells beside it. */
export const OTHER_INVOICE = 'an invoice that is not the one it speaks of';
/** What {@link invoiceMisfit} says of a text that is no invoice. */
export const UNREADABLE_INVOICE = 'an invoice that cannot be read';

/** Compares an invoice, and what the node said of it. Checks the signature, which alone shows whose invoice it is. */
export function invoiceMisfit(
  told: ToldInvoice,
  asked: AskedInvoice,
  { nodePk, network }: Receiver,
): string | null {
  const made = readOr(
    () => decodeBolt11(told.invoice, { ownKey: nodePk }),
    () => null,
  );
  if (made === null) return UNREADABLE_INVOICE;
  const wrong = (what: string) => `an invoice with another ${what}`;
  if (made.payeePubkey !== nodePk) return wrong('payee than this wallet');
  if (made.network !== network) return wrong('network than that of the wallet');
  if (made.paymentHash !== (asked.paymentHash ?? told.paymentHash)) return wrong('payment hash');
  if (made.amountMsat !== asked.amountMsat) return wrong('amount');
  if (made.descriptionHash !== asked.descriptionHash) return wrong('description hash');
  if (asked.descriptionHash === null && !isSameText(made.description, asked.description)) {
    return wrong('description');
  }
  if (made.expirySecs !== asked.expirationSecs) return wrong('expiry');
  return made.paymentHash === told.paymentHash &&
    made.paymentSecret === told.paymentSecret &&
    made.expiresAtMs === told.expiresAtMs
    ? null
    : OTHER_INVOICE;
}

interface AskedOffer {
  readonly description: string | null;
  readonly minAmountMsat: bigint | null;
  readonly expiresAtMs: number | null;
}

/**
 * Compares an offer, and the id and issuer that the node said it has. An offer that names no issuer is answered at the
 * ends of its blinded paths, of which nothing shows whose they are.
 */
export function offerMisfit(
  told: {
    readonly offer: string;
    readonly offerId: string;
    readonly issuerId?: string | null;
  },
  asked: AskedOffer,
  { nodePk, network }: Receiver,
): string | null {
  const made = readOr(
    () => decodeOffer(told.offer),
    () => null,
  );
  if (made === null) return 'an offer that cannot be read';
  const wrong = (what: string) => `an offer with another ${what}`;
  const issuerId = told.issuerId ?? nodePk;
  if (made.issuerId !== null && made.issuerId !== issuerId) return wrong('issuer than this wallet');
  const [chain, ...others] = made.chains;
  if (chain !== NETWORKS[network].chainHash || others.length > 0) {
    return wrong('network than that of the wallet');
  }
  if (made.currency !== null || made.amountMsat !== asked.minAmountMsat) return wrong('amount');
  if (!isSameText(made.description, asked.description)) return wrong('description');
  const expirySecs = asked.expiresAtMs === null ? null : Math.floor(asked.expiresAtMs / 1000);
  if (made.absoluteExpirySecs !== expirySecs) return wrong('expiry');
  return made.offerId === told.offerId ? null : 'an offer that is not the one it speaks of';
}

/** Compares an address with the type that was asked for and the wallet's network. */
export function addressMisfit(
  address: string,
  type: AddressType,
  { network }: Pick<Receiver, 'network'>,
): string | null {
  const made = readOr(
    () => decodeAddress(address),
    () => null,
  );
  if (made === null) return 'a text that is no address';
  if (!made.networks.includes(network)) {
    return 'an address of another network than that of the wallet';
  }
  return made.kind === ADDRESS_KIND[type] ? null : 'an address of another type';
}

/** An empty text is none, as BOLT 11 requires a description and BOLT 12 one beside an amount. */
function isSameText(a: string | null, b: string | null): boolean {
  return (a ?? '') === (b ?? '');
}
