import { REAL_NODES_CANNOT } from './real-cannot.ts';

const OFFERS = 'LND has no BOLT 12 offers';
const NAMES = 'needs an offer; lnd-names.test.ts pays names on LND';

/** Conformance tests that LND cannot pass, each with the reason. */
export const LND_CANNOT: ReadonlyMap<string, string> = new Map([
  ...REAL_NODES_CANNOT,
  ['an offer takes many payments; message and offer_id arrive with the receiver', OFFERS],
  [
    'every payment that arrives on an offer has what the offer has, and the payer its own id',
    OFFERS,
  ],
  ['is a parameter of pay_offer', OFFERS],
  ['sees what arrives on an offer of its own, and on none of another', OFFERS],
  ['a minimum is a minimum', OFFERS],
  ['an offer is paid with the invoice that was fetched when it was asked for', OFFERS],
  ['an offer in pieces is joined wherever an offer is taken', OFFERS],
  ['pay_offer says in data.sent that nothing was sent, of what it cannot read too', OFFERS],
  ['an expired offer is refused, and expiration_secs shows in analyze', OFFERS],
  ['offers of the outside world settle, fail and hold', OFFERS],
  ['an own offer, another network and garbage are refused', OFFERS],
  ['the outside world pays an offer with payer name and message', OFFERS],
  ["payer_name is never the payee's own name, by which the offer was found", NAMES],
  ['a completed outbound offer payment is proven, with the defaults of the contract', OFFERS],
  ['other payments cannot be proven', OFFERS],
  ['a payment that does not exist is error 107', OFFERS],
  ['TLV types are integers, in requests and in answers', OFFERS],
  [
    'a client that may only send proves its own payments, and no others (docs/decisions.md 175)',
    OFFERS,
  ],
  [
    'a unified URI recommends offer, invoice, address in this order, and its callbacks work',
    OFFERS,
  ],
  ['what cannot be paid is left out, and error 106 says why when nothing is left', OFFERS],
  [
    'holds while the first is still running, and for a payment to an offer that could be paid again',
    OFFERS,
  ],
  [
    'payments on offers, addresses and names issued here are announced too, failures as well',
    OFFERS,
  ],
  [
    'of finalized payments go up once a payment, on both sides, and not when a note changes',
    OFFERS,
  ],
  ['both addresses of a name can be paid', NAMES],
  ['every spelling of a name is read, and paid through its callback', NAMES],
]);
