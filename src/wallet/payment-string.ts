import { type DecodedAddress, decodeAddress } from '../codecs/address.ts';
import { type Bip321Uri, decodeBip321 } from '../codecs/bip321.ts';
import { type Bolt11Invoice, decodeBolt11 } from '../codecs/bolt11/index.ts';
import { bolt12PrefixOf, decodeOffer, type Offer } from '../codecs/bolt12/index.ts';
import { CodecError } from '../codecs/codec-error.ts';
import {
  decodeHumanBitcoinAddress,
  type HumanBitcoinName,
} from '../codecs/human-bitcoin-address.ts';
import { decodeLightningAddress } from '../codecs/lightning-address.ts';
import { decodeLnurl, lnurlInWebAddress } from '../codecs/lnurl.ts';

/** A way to pay or be paid that a payment string names; whether this wallet can use it is not judged yet. */
export type NamedMethod =
  | { readonly kind: 'offer'; readonly offer: Offer }
  | { readonly kind: 'invoice'; readonly invoice: Bolt11Invoice }
  | { readonly kind: 'onchain'; readonly address: DecodedAddress }
  /** An LNURL or Lightning Address, and the service it stands for. */
  | { readonly kind: 'lnurl'; readonly text: string; readonly url: string };

/** What a payment string says before anybody else is asked. */
export interface PaymentString {
  readonly methods: readonly NamedMethod[];
  /** Why further methods that it names cannot be read, a sentence each. */
  readonly unreadable: readonly string[];
  /** A Human Bitcoin Address that must be resolved to learn more methods. */
  readonly name: HumanBitcoinName | null;
  /** An amount for all methods (BIP 321); null when the string has none of its own. */
  readonly amountMsat: bigint | null;
  readonly description: string | null;
  /** Names of required parameters that are not known here: then nothing of it may be paid (BIP 321). */
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

/** Methods of a URI at most: each may cost a signature check or a request to a service outside. */
const MAX_METHODS = 10;

/**
 * Takes a payment string apart (contract, analyze: accepted encodings) and reads its methods. Throws
 * {@link CodecError} for what is no payment string; a method of a URI that cannot be read is only left out.
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

/** The method that a payment string is when no URI is around it; null for what looks like none. Throws CodecError. */
export function parseLoneMethod(text: string): NamedMethod | null {
  return readMethod(withDecodedName(withoutLightningScheme(text)));
}

/** A payment string without the `lightning:` before it and the whitespace around it. */
export function withoutLightningScheme(text: string): string {
  // Taken off at once: one by one, a long row of them would take time that grows with its square.
  return text.trim().replace(/^(?:lightning:(?:\/\/)?\s*)+/i, '');
}

function isUri(text: string): boolean {
  return /^bitcoin:/i.test(text);
}

/** Names may be percent-encoded outside URIs too; nothing else is. */
function withDecodedName(text: string): string {
  if (!/^[^:]*(?:%40|%e2%82%bf)/i.test(text)) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw unknownString();
  }
}

/** The method that a text without any wrapping is; null for what looks like none. Throws CodecError. */
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

/** What was meant as an address: then the error says what is wrong with it. */
const ADDRESS_LIKE = /^(?:(?:bc|tb|bcrt)1|[123mn][0-9a-z]{24,39}$)/i;

/** Documents of BOLT 12 that are not payable here, and what to do about it. */
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
    description: uri.message || uri.label || null,
    requiredUnknown: uri.requiredUnknown,
  };
}

/** Reads the methods of a URI, each by what its place in the URI may hold (BIP 321). */
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

/** What was read, or the sentence that says why it cannot be. */
function attempt<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof CodecError) return error.message;
    throw error;
  }
}
