import { decodeAddress, encodeAddress } from '../src/codecs/address.ts';
import { encodeBigSize, readBigSize } from '../src/codecs/bigsize.ts';
import { decodeBip321 } from '../src/codecs/bip321.ts';
import { type Bolt11Invoice, decodeBolt11, encodeBolt11 } from '../src/codecs/bolt11/index.ts';
import {
  decodeInvoice,
  decodeInvoiceRequest,
  decodeOffer,
  encodeBolt12String,
  INVOICE_SIGNATURE,
  invalidDocument,
} from '../src/codecs/bolt12/index.ts';
import { CodecError } from '../src/codecs/codec-error.ts';
import {
  decodeHumanBitcoinAddress,
  encodeHumanBitcoinAddress,
} from '../src/codecs/human-bitcoin-address.ts';
import { decodeLightningAddress } from '../src/codecs/lightning-address.ts';
import { decodeBech32, decodeLnurl, encodeLnurl } from '../src/codecs/lnurl.ts';
import { verifyPayerProof } from '../src/codecs/payer-proof/index.ts';
import { decodeTlvStream, encodeTlvStream } from '../src/codecs/tlv.ts';
import { isHost, isLoopback, schemeFor } from '../src/codecs/web-host.ts';
import { parsePaymentString } from '../src/wallet/strings/payment-string.ts';
import { encodeBip321 } from '../tests/support/bip321.ts';
import {
  makeInvoice,
  makeOffer,
  makeRequest,
  NODE_KEY,
  PAYER_KEY,
} from '../tests/support/bolt12-fixtures.ts';
import ldkProofs from '../tests/vectors/bolt12-payer-proof-ldk.json';
import { bolt12Text, resealBase58, resealBech32 } from './codec-grammar.ts';
import { type CodecTarget, target, texts } from './codec-target.ts';
import type { Dice } from './dice.ts';
import { MODEL_TARGETS } from './model-targets.ts';
import { mutateBytes, mutateText } from './text.ts';
import { addressText, hostText, uriText, urlText } from './uri-grammar.ts';
import { VECTORS } from './vectors.ts';

const invalid = invalidDocument('tlv', 'stream', 'send another one');
const ADDRESSES = [
  ...VECTORS.address,
  ...VECTORS.uri.map((uri) => uri.replace(/^bitcoin:|\?.*$/gi, '')),
];
const PROOFS = [
  ...VECTORS.proof,
  ...ldkProofs.vectors.map(({ proof_hex }) =>
    encodeBolt12String('lnp', Uint8Array.fromHex(proof_hex)),
  ),
];
const REQUEST_SIGNATURE = { message: 'invoice_request', field: 'signature' } as const;
const REQUESTS = [makeRequest(makeOffer({ amount: 1000n })).text];
const INVOICES = [...VECTORS.invoice, makeInvoice(makeRequest(makeOffer({ amount: 1000n }))).text];
/** Every reader of outside strings and bytes, by name. */
export const CODEC_TARGETS: readonly CodecTarget[] = [
  target(
    'bigsize',
    3,
    (dice) =>
      mutateBytes(dice, encodeBigSize(BigInt(dice.below(2 ** 32)) << BigInt(dice.below(33)))),
    (bytes) => {
      const { value, end } = readBigSize(bytes, 0, invalid);
      return [bytes.slice(0, end), encodeBigSize(value)];
    },
  ),
  target(
    'tlv',
    3,
    (dice) => tlvBytes(dice),
    (bytes) => [bytes, encodeTlvStream(decodeTlvStream(bytes, invalid))],
  ),
  target('bolt11', 6, texts(VECTORS.bolt11, resealBech32), (text) => {
    const invoice = decodeBolt11(text);
    const written = writeAgain(invoice);
    return written === null
      ? [0, 0]
      : [
          { ...invoice, text: '', payeePubkey: '' },
          { ...decodeBolt11(written), text: '', payeePubkey: '' },
        ];
  }),
  target(
    'offer',
    6,
    texts(VECTORS.offer, (dice, seed) => bolt12Text(dice, seed, { prefix: 'lno', sign: null })),
    (text) => {
      const offer = decodeOffer(text);
      return [offer, decodeOffer(offer.text)];
    },
  ),
  target(
    'invoice request',
    2,
    texts(REQUESTS, (dice, seed) =>
      bolt12Text(dice, seed, {
        prefix: 'lnr',
        sign: { subject: REQUEST_SIGNATURE, secretKey: PAYER_KEY },
      }),
    ),
    (text) => {
      const request = decodeInvoiceRequest(text);
      return [request, decodeInvoiceRequest(request.bytes)];
    },
  ),
  target(
    'bolt12 invoice',
    2,
    texts(INVOICES, (dice, seed) =>
      bolt12Text(dice, seed, {
        prefix: 'lni',
        sign: { subject: INVOICE_SIGNATURE, secretKey: NODE_KEY },
      }),
    ),
    (text) => {
      const invoice = decodeInvoice(text);
      return [invoice, decodeInvoice(invoice.bytes)];
    },
  ),
  target(
    'payer proof',
    3,
    texts(PROOFS, (dice, seed) => bolt12Text(dice, seed, { prefix: 'lnp', sign: null })),
    (text) => {
      const proof = verifyPayerProof(text);
      return [proof, verifyPayerProof(proof.text)];
    },
  ),
  target(
    'address',
    6,
    texts(ADDRESSES, (dice, seed) => (dice.chance(0.5) ? resealBech32 : resealBase58)(dice, seed)),
    (text) => {
      const { canonical, scriptPubKey, networks } = decodeAddress(text);
      return [canonical, encodeAddress(scriptPubKey, networks[0] ?? 'bitcoin')];
    },
  ),
  target('bip321', 6, texts(VECTORS.uri, uriText), (text) => {
    const uri = decodeBip321(text);
    // A body that is not an address, such as a name, cannot be written again.
    if (uri.body !== null && !/^[a-z0-9]*$/i.test(uri.body)) return null;
    const [invoice] = uri.lightning;
    const [offer] = uri.offers;
    const written = encodeBip321({
      ...(uri.body === null ? {} : { address: uri.body }),
      ...(invoice === undefined ? {} : { invoice }),
      ...(offer === undefined ? {} : { offer }),
      ...(uri.amountMsat === null ? {} : { amountMsat: uri.amountMsat }),
      ...(uri.label === null ? {} : { label: uri.label }),
      ...(uri.message === null ? {} : { message: uri.message }),
    });
    const again = decodeBip321(written);
    const kept = ({ body, amountMsat, label, message }: typeof uri) => ({
      body,
      amountMsat,
      label,
      message,
    });
    return [kept(uri), kept(again)];
  }),
  target(
    'lnurl',
    6,
    texts(VECTORS.lnurl, (dice, seed) =>
      dice.pick([resealBech32, urlText, (_: Dice) => encodeLnurl(urlText(dice))])(dice, seed),
    ),
    (text) => {
      const { url } = decodeLnurl(text);
      return [url, decodeLnurl(encodeLnurl(url)).url];
    },
  ),
  target('lnurl bech32', 2, texts(VECTORS.lnurl, resealBech32), (text) => {
    const inside = decodeBech32(text);
    return [inside, decodeBech32(encodeLnurl(inside))];
  }),
  target('lightning address', 4, texts(VECTORS.name, addressText), (text) => {
    const address = decodeLightningAddress(text);
    return [address, decodeLightningAddress(`${address.username}@${address.domain}`)];
  }),
  target('human bitcoin address', 4, texts(VECTORS.name, addressText), (text) => {
    const name = decodeHumanBitcoinAddress(text);
    return [name, decodeHumanBitcoinAddress(encodeHumanBitcoinAddress(name))];
  }),
  target('web host', 4, hostText, (text) => {
    schemeFor(text);
    isLoopback(text);
    return isHost(text)
      ? [true, URL.canParse(`http://${text.replace(/:\d+$/, '')}`) || !isLoopback(text)]
      : null;
  }),
  target(
    'payment string',
    6,
    texts(
      Object.values(VECTORS).flat(),
      (dice, seed) =>
        `${dice.pick(['', 'lightning:', 'lightning:'.repeat(dice.below(2000)), 'bitcoin:?lightning=', ' '])}${mutateText(dice, seed)}`,
    ),
    (text) => {
      parsePaymentString(text);
      return [0, 0];
    },
  ),
  ...MODEL_TARGETS,
];

function tlvBytes(dice: Dice): Uint8Array {
  const records = Array.from({ length: dice.below(8) }, (_, at) => ({
    type: BigInt(at * 7 + dice.below(8)) << BigInt(dice.pick([0, 0, 8, 16, 40])),
    value: dice.bytes(dice.pick([0, 1, 33, 252, 253, 300])),
  }));
  const stream = encodeTlvStream(records.toSorted((a, b) => (a.type < b.type ? -1 : 1)));
  return dice.chance(0.4) ? stream : mutateBytes(dice, stream);
}

/** Writes a decoded invoice again and signs it with another key; null when the writer finds its values invalid. */
function writeAgain(invoice: Bolt11Invoice): string | null {
  const { description, descriptionHash, metadata, features, ...rest } = invoice;
  try {
    return encodeBolt11(
      {
        network: rest.network,
        amountMsat: rest.amountMsat,
        timestampSecs: rest.timestampSecs,
        paymentHash: rest.paymentHash,
        paymentSecret: rest.paymentSecret,
        expirySecs: rest.expirySecs,
        minFinalCltvExpiryDelta: rest.minFinalCltvExpiryDelta,
        fallbackAddresses: rest.fallbackAddresses,
        routeHints: rest.routeHints,
        features: [...features],
        ...(description === null ? {} : { description }),
        ...(descriptionHash === null ? {} : { descriptionHash }),
        ...(metadata === null ? {} : { metadata }),
      },
      NODE_KEY,
    );
  } catch (error) {
    if (error instanceof CodecError) return null;
    throw error;
  }
}
