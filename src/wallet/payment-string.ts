import { decodeBip321 } from '../codecs/bip321.ts';
import { CodecError } from '../codecs/codec-error.ts';
import { decodeHumanBitcoinAddress } from '../codecs/human-bitcoin-address.ts';
import { decodeLightningAddress } from '../codecs/lightning-address.ts';
import { decodeLnurl } from '../codecs/lnurl.ts';

/** A way to pay or be paid that a payment string names, not yet looked into. */
export type NamedMethod =
  | { readonly kind: 'invoice' | 'offer' | 'onchain'; readonly text: string }
  | { readonly kind: 'lnurl'; readonly text: string; readonly url: string };

/** What a payment string says before anybody else is asked. */
export interface PaymentString {
  readonly methods: readonly NamedMethod[];
  /** An amount for all methods (BIP 321); null when the string has none of its own. */
  readonly amountMsat: bigint | null;
  readonly description: string | null;
  /** A Human Bitcoin Address that must be resolved to learn the methods. */
  readonly name: { readonly username: string; readonly domain: string } | null;
}

const NO_METHODS: PaymentString = { methods: [], amountMsat: null, description: null, name: null };

/**
 * Takes a payment string apart (contract, analyze: accepted encodings), without reading the methods themselves.
 * Throws {@link CodecError} for what is no payment string.
 */
export function parsePaymentString(text: string): PaymentString {
  // Taken off at once: one by one, a long row of them would take time that grows with its square.
  const trimmed = text.trim().replace(/^(?:lightning:(?:\/\/)?\s*)+/i, '');
  const lower = trimmed.toLowerCase();
  if (lower.startsWith('bitcoin:')) return parseUri(trimmed);
  if (trimmed.startsWith('₿')) {
    return { ...NO_METHODS, name: decodeHumanBitcoinAddress(trimmed) };
  }
  return { ...NO_METHODS, methods: [parseMethod(trimmed, lower)] };
}

function parseMethod(text: string, lower: string): NamedMethod {
  if (/^(lnurl1|lnurlp:|lnurlw:|lnurlc:|keyauth:|https?:)/.test(lower)) {
    return { kind: 'lnurl', text, url: decodeLnurl(text).url };
  }
  if (text.includes('@')) return { kind: 'lnurl', text, url: decodeLightningAddress(text).url };
  if (lower.startsWith('lno1')) return { kind: 'offer', text };
  const other = OTHER_STRINGS.find(([prefix]) => lower.startsWith(prefix));
  if (other) throw new CodecError('bolt12', other[1]);
  if (/^ln(bc|tb)/.test(lower)) return { kind: 'invoice', text };
  return { kind: 'onchain', text };
}

/** Strings of the field that are not payable here, and what to do about it. */
const OTHER_STRINGS: readonly (readonly [string, string])[] = [
  ['lnr1', 'A BOLT 12 invoice request cannot be paid: ask for an offer or an invoice.'],
  ['lni1', 'A BOLT 12 invoice cannot be paid on its own: pay the offer that it belongs to.'],
  ['lnp1', 'This is a payer proof, not something to pay: check it with verify_payer_proof.'],
];

function parseUri(text: string): PaymentString {
  const uri = decodeBip321(text);
  const [unknown] = uri.requiredUnknown;
  if (unknown !== undefined) {
    throw new CodecError('bip321', `The URI requires "${unknown}", which is not known here.`);
  }
  const addresses = [...(uri.address === null ? [] : [uri.address]), ...uri.addresses];
  return {
    methods: [
      ...uri.offers.map((offer) => ({ kind: 'offer' as const, text: offer })),
      ...uri.lightning.map((lightning) => parseMethod(lightning, lightning.toLowerCase())),
      ...addresses.map((address) => ({ kind: 'onchain' as const, text: address })),
    ],
    amountMsat: uri.amountMsat,
    description: uri.message ?? uri.label,
    name: null,
  };
}
