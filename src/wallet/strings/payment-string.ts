import { type DecodedAddress, decodeAddress } from '../../codecs/address.ts';
import { type Bip321Uri, decodeBip321 } from '../../codecs/bip321.ts';
import { type Bolt11Invoice, decodeBolt11 } from '../../codecs/bolt11/index.ts';
import { bolt12PrefixOf, decodeOffer, type Offer } from '../../codecs/bolt12/index.ts';
import { CodecError, readOr } from '../../codecs/codec-error.ts';
import {
  decodeHumanBitcoinAddress,
  type HumanBitcoinName,
} from '../../codecs/human-bitcoin-address.ts';
import { decodeLightningAddress } from '../../codecs/lightning-address.ts';
import { decodeLnurl, lnurlInWebAddress } from '../../codecs/lnurl.ts';
import { foreignText } from '../../net/foreign-text.ts';

/** A way to pay or be paid that a payment string holds. Whether this wallet can use it is judged elsewhere. */
export type NamedMethod =
  | { readonly kind: 'offer'; readonly offer: Offer }
  | { readonly kind: 'invoice'; readonly invoice: Bolt11Invoice }
  | { readonly kind: 'onchain'; readonly address: DecodedAddress }
  /** An LNURL or Lightning Address, and the URL of its service. */
  | { readonly kind: 'lnurl'; readonly text: string; readonly url: string };

/** The contents of a payment string, read without asking any service. */
export interface PaymentString {
  readonly methods: readonly NamedMethod[];
  /** The reasons why other methods in it cannot be read, one sentence each. */
  readonly unreadable: readonly string[];
  /** The Human Bitcoin Address in it, which must be resolved to find more methods; null without one. */
  readonly name: HumanBitcoinName | null;
  /** The amount that the URI sets for all methods (BIP 321); null when it sets none. */
  readonly amountMsat: bigint | null;
  readonly description: string | null;
  /** Names of unknown required parameters. If there are any, nothing of the string may be paid (BIP 321). */
  readonly requiredUnknown: readonly string[];
}

const NOTHING: PaymentString = {
  methods: [],
  unreadable: [],
  name: null,
  amountMsat: null,
  description: null,
  requiredUnknown: [],
};

/** The largest number of characters of a URI's label or message that are shown. */
const MAX_DESCRIPTION = 639;

/** The most methods of a URI: each may cost a signature check or a request (docs/decisions.md 95). */
const MAX_METHODS = 10;

/**
 * Reads a payment string and the methods in it (docs/decisions.md 97). Throws {@link CodecError} when the text is not a
 * payment string. A method of a URI that cannot be read is left out, and `unreadable` says why.
 */
export function parsePaymentString(text: string): PaymentString {
  const bare = withoutLightningScheme(text);
  if (isUri(bare)) return parseUri(bare);
  const plain = withDecodedName(bare);
  if (plain.startsWith('₿')) return { ...NOTHING, name: decodeHumanBitcoinAddress(plain) };
  const method = readMethod(plain);
  if (method === null) throw unknownString();
  return { ...NOTHING, methods: [method] };
}

/** Reads a method without a URI around it; null when it looks like none. Throws {@link CodecError}. */
export function parseLoneMethod(text: string): NamedMethod | null {
  return readMethod(withDecodedName(withoutLightningScheme(text)));
}

/** Returns the payment string without the scheme `lightning:` and without whitespace around it. */
export function withoutLightningScheme(text: string): string {
  // One match removes all repetitions. Removing them one by one would take time that grows with the square of their
  // number.
  return text.trim().replace(/^(?:lightning:(?:\/\/)?\s*)+/i, '');
}

function isUri(text: string): boolean {
  return /^bitcoin:/i.test(text);
}

/** Human Bitcoin Addresses may be percent-encoded outside URIs too. Nothing else may. */
function withDecodedName(text: string): string {
  if (!/^[^:]*(?:%40|%e2%82%bf)/i.test(text)) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw unknownString();
  }
}

/** Reads a method without anything around it. Returns null when the text looks like none. Throws CodecError. */
function readMethod(text: string): NamedMethod | null {
  if (/^(?:lnurl1|lnurl[pwc]:|keyauth:)/i.test(text)) return readLnurl(text);
  if (/^https?:/i.test(text)) {
    const carried = lnurlInWebAddress(text);
    return carried === null ? null : readLnurl(carried);
  }
  if (text.includes('@')) {
    const { username, domain, url } = decodeLightningAddress(text);
    return { kind: 'lnurl', text: `${username}@${domain}`, url };
  }
  const document = bolt12PrefixOf(text);
  if (document === 'lno') return { kind: 'offer', offer: decodeOffer(text) };
  if (document !== null) throw new CodecError('bolt12', OTHER_DOCUMENTS[document]);
  if (/^ln(?:bc|tb)/i.test(text)) return { kind: 'invoice', invoice: decodeBolt11(text) };
  return ADDRESS_LIKE.test(text) ? { kind: 'onchain', address: decodeAddress(text) } : null;
}

function readLnurl(lnurl: string): NamedMethod {
  const { text, url } = decodeLnurl(lnurl);
  return { kind: 'lnurl', text, url };
}

/** Texts that look like an address, so that the error can say what is wrong with it. */
const ADDRESS_LIKE = /^(?:(?:bc|tb|bcrt)1|[123mn][0-9a-z]{24,39}$)/i;

/** BOLT 12 documents that cannot be paid, with a message that says what to do instead. */
const OTHER_DOCUMENTS = {
  lnr: 'A BOLT 12 invoice request cannot be paid: ask for an offer or an invoice.',
  lni: 'A BOLT 12 invoice cannot be paid on its own: pay the offer that it belongs to.',
  lnp: 'This is a payer proof, not something to pay: check it with verify_payer_proof.',
} as const;

function unknownString(): CodecError {
  return new CodecError(
    'payment-string',
    'This text is no payment string known here: give a bitcoin: or lightning: URI, a BOLT 11 invoice, a BOLT 12 offer, an on-chain address, an LNURL, a Lightning Address (name@domain) or a Human Bitcoin Address (₿name@domain).',
  );
}

function parseUri(text: string): PaymentString {
  const uri = decodeBip321(text);
  const name = uri.body?.startsWith('₿') ? uri.body : null;
  const readers = methodReaders({ ...uri, body: name === null ? uri.body : null });
  const named = readers.length + (name === null ? 0 : 1);
  if (named > MAX_METHODS) {
    throw new CodecError(
      'bip321',
      `The bitcoin: URI names more than ${MAX_METHODS} ways to pay: ask for one with fewer.`,
    );
  }
  const read = readers.map(attempt);
  const readName = name === null ? null : attempt(() => decodeHumanBitcoinAddress(name));
  return {
    methods: read.flatMap((one) => (typeof one === 'string' ? [] : [one])),
    unreadable: [...read, readName].flatMap((one) => (typeof one === 'string' ? [one] : [])),
    name: typeof readName === 'string' ? null : readName,
    amountMsat: uri.amountMsat,
    description: foreignText(uri.message || uri.label, { maxCharacters: MAX_DESCRIPTION }) || null,
    requiredUnknown: uri.requiredUnknown,
  };
}

/** Returns a reader for each method of a URI. Each accepts only what its parameter may hold (BIP 321). */
function methodReaders({ body, offers, lightning, addresses }: Bip321Uri): (() => NamedMethod)[] {
  return [
    ...offers.map(
      (text) => (): NamedMethod => ({ kind: 'offer', offer: decodeOffer(text.trim()) }),
    ),
    ...lightning.map((text) => () => readLightning(text)),
    ...(body === null
      ? []
      : [(): NamedMethod => ({ kind: 'onchain', address: decodeAddress(body) })]),
    ...addresses.map(
      ({ prefix, text }) =>
        (): NamedMethod => ({ kind: 'onchain', address: readSegwit(prefix, text) }),
    ),
  ];
}

function readLightning(text: string): NamedMethod {
  const method = readMethod(withoutLightningScheme(text));
  if (method !== null && method.kind !== 'onchain') return method;
  throw new CodecError(
    'bip321',
    'The parameter "lightning" holds no invoice, offer, LNURL or Lightning Address.',
  );
}

function readSegwit(prefix: string, text: string): DecodedAddress {
  const address = decodeAddress(text);
  if (address.witnessVersion !== null && address.canonical.startsWith(`${prefix}1`)) return address;
  throw new CodecError(
    'bip321',
    `The parameter "${prefix}" holds no segwit address that begins with ${prefix}1.`,
  );
}

function attempt<T>(read: () => T): T | string {
  return readOr(read, ({ message }) => message);
}
