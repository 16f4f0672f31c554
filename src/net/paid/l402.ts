import { hex } from '@scure/base';
import { authChallenges } from './auth-params.ts';
import { base64Bytes, challengeInvoice, type Dialect, wrongChallenge } from './challenge.ts';

/** The first byte of a macaroon in its binary format. */
const MACAROON_V2 = 2;

/**
 * L402, also under its earlier name LSAT: a macaroon or another token, and an invoice
 * (https://github.com/lightninglabs/L402). The token stays good for further requests.
 */
export const l402: Dialect = {
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
};
