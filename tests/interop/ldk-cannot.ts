import { LND_CANNOT } from './lnd-cannot.ts';

const BUMP = 'it cannot raise the fee of a transaction';
const MESSAGE = 'LDK nodes refuse a message with a payment that has no invoice';

/** Conformance tests that the LDK node cannot pass, each with the reason. */
export const LDK_CANNOT: ReadonlyMap<string, string> = new Map([
  ...LND_CANNOT,
  [
    'a child pays for a send that waits: the payment stays what it is, and the fee is paid once',
    BUMP,
  ],
  ['what the child costs has a row of its own, so that payments add up to the balance', BUMP],
  ['nothing is made above max_fee, for a payment of another kind, or for none', BUMP],
  ['counts in the budget of a client', BUMP],
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
