import { createHmac } from 'node:crypto';
import { hex } from '@scure/base';
import { isSameSecret } from '../../lib/secrets/same-secret.ts';
import { authChallenges, challengeLine } from './auth-params.ts';
import {
  base64Bytes,
  challengeInvoice,
  type Dialect,
  type Mac,
  wrongChallenge,
} from './challenge.ts';

/** The first byte of a macaroon in its binary format. */
const MACAROON_V2 = 2;
/** The fields of that format: the identifier, of 66 bytes; the end of a section; the signature, of 32 bytes. */
const FIELDS = { identifier: [2, 66], end: [0], signature: [6, 32] };
/** Where the payment hash stands in a macaroon of ours: behind the version of the identifier, of two bytes. */
const HASH_AT = 1 + FIELDS.identifier.length + 2;

/**
 * L402, also under its earlier name LSAT: a macaroon or another token, and an invoice
 * (https://github.com/lightninglabs/L402). The token stays good for further requests.
 */
export const l402: Dialect = {
  proofHeader: 'authorization',
  read: (headers) =>
    authChallenges(headers.get('www-authenticate') ?? '')
      .filter(({ scheme }) => scheme === 'l402' || scheme === 'lsat')
      .map(({ params }) => {
        const token = params.get('token') ?? params.get('macaroon') ?? '';
        const invoice = challengeInvoice(params.get('invoice'));
        const bytes = base64Bytes(token, 'its token');
        // A macaroon names the payment that makes it good. Of another payment it would never be.
        if (bytes[0] === MACAROON_V2 && !bytes.includes(hex.decode(invoice.paymentHash))) {
          throw wrongChallenge('its token is for another invoice');
        }
        return { dialect: 'l402', invoice, token };
      }),
  proof: (token, preimage) => ['authorization', `L402 ${token}:${preimage}`],
  ask({ invoice, mac }) {
    const token = mint(invoice.paymentHash, mac).toString('base64');
    // Many clients know only the earlier name of the token, and look for it at the beginning.
    const params = { macaroon: token, invoice: invoice.text, version: '0', token };
    return [challengeLine('L402', params)];
  },
  claim(header, mac) {
    const [, token = '', preimage] =
      /^(?:L402|LSAT) +([A-Za-z0-9+/_-]+={0,2}):(\w+)$/i.exec(header) ?? [];
    const bytes = Buffer.from(token, 'base64');
    const paymentHash = hex.encode(bytes.subarray(HASH_AT, HASH_AT + 32));
    // A caveat that a holder has added makes other bytes. Nobody here could say whether it holds, so it is not taken.
    const isOurs = isSameSecret(hex.encode(bytes), hex.encode(mint(paymentHash, mac)));
    return isOurs ? { paymentHash, preimage, needsRequest: false, receipt: () => [] } : null;
  },
};

/**
 * Makes the macaroon for a payment hash (macaroon-spec.md of L402): without caveats, since no service is named. Its
 * token id and root key follow from the hash, so that nothing has to be kept.
 */
function mint(paymentHash: string, mac: Mac): Buffer {
  const identifier = hex.decode(`0000${paymentHash}${mac('l402 token', paymentHash)}`);
  const rootKey = hex.decode(mac('l402 key', paymentHash));
  const signature = createHmac('sha256', rootKey).update(identifier).digest();
  return Buffer.concat([
    Buffer.of(MACAROON_V2, ...FIELDS.identifier),
    identifier,
    Buffer.of(...FIELDS.end, ...FIELDS.end, ...FIELDS.signature),
    signature,
  ]);
}
