import { CLOCK, FREE_ROUTE, REAL_NODES_CANNOT } from './real-cannot.ts';

const NAMES = 'needs DNS records of the domain, which a name on loopback does not have';
const PROOFS = 'it makes no payer proofs';
const TWO = 'the two wallets are in a sidecar each, and each counts and serves its own';
const MESSAGE = 'LDK nodes refuse a message with a payment that has no invoice';

/** Conformance tests that the LDK node cannot pass, each with the reason. */
export const LDK_CANNOT: ReadonlyMap<string, string> = new Map([
  ...REAL_NODES_CANNOT,
  ['an offer is paid with the invoice that was fetched when it was asked for', 'it fetches none'],
  ['an expired offer is refused, and expiration_secs shows in analyze', CLOCK],
  ['offers of the outside world settle, fail and hold', FREE_ROUTE],
  ['the outside world pays an offer with payer name and message', 'it tells no name of a payer'],
  ["payer_name is never the payee's own name, by which the offer was found", NAMES],
  ['both addresses of a name can be paid', NAMES],
  ['every spelling of a name is read, and paid through its callback', NAMES],
  [
    'payments on offers, addresses and names issued here are announced too, failures as well',
    NAMES,
  ],
  ['a completed outbound offer payment is proven, with the defaults of the contract', PROOFS],
  ['other payments cannot be proven', PROOFS],
  ['a payment that does not exist is error 107', PROOFS],
  ['TLV types are integers, in requests and in answers', PROOFS],
  [
    'a client that may only send proves its own payments, and no others (docs/decisions.md 175)',
    PROOFS,
  ],
  ['a unified URI recommends offer, invoice, address in this order, and its callbacks work', TWO],
  ['of finalized payments go up once a payment, on both sides, and not when a note changes', TWO],
  ['pays a node without an invoice, and the message arrives', MESSAGE],
  ['with the same Idempotency-Key it is paid once', MESSAGE],
  [
    'hands out an address of each type, the same until it is paid, and segwit by default',
    'it makes segwit addresses alone',
  ],
  [
    'it can be changed, and no other wallet gets it meanwhile',
    'a sidecar has one LDK node, so that the other wallet has names of its own',
  ],
  [
    'a wallet has at most 100 active clients; revoking makes room',
    'the second wallet has one more client, by which the tests ask it',
  ],
  [
    'has what it made, page by page, for the owner and itself',
    'invoices made within one second have no order',
  ],
]);
