import { CLOCK, FREE_ROUTE, REAL_NODES_CANNOT } from './real-cannot.ts';

const KEYSEND = 'Core Lightning draws the preimage itself, so a repeat would pay twice: error 110';
const HOLD = 'Core Lightning has no hold invoices';
const NAMES = 'needs DNS records of the domain, which a name on loopback does not have';
const HASH = 'Core Lightning makes no invoice of a description hash alone';
const PROOF = 'Core Lightning chooses what its proofs show: the features of the invoice too';
const PAYER_NAME = 'Core Lightning tells no name of a payer';
const BLOCKS = 'Core Lightning sees coins that arrive only when they are in a block';

/** Conformance tests that Core Lightning cannot pass, each with the reason. */
export const CLN_CANNOT: ReadonlyMap<string, string> = new Map([
  ...REAL_NODES_CANNOT,
  ['pays a node without an invoice, and the message arrives', KEYSEND],
  ['a payment without an invoice is sent with the preimage that was drawn for it', KEYSEND],
  ['needs no message, and each request is a payment of its own', KEYSEND],
  ['with the same Idempotency-Key it is paid once', KEYSEND],
  [
    'Prefer: respond-async answers 202 with the payment while it is pending, 200 once it has ended',
    KEYSEND,
  ],
  ["the wallet's own node cannot be paid, and nothing is sent", KEYSEND],
  ['a node that no route leads to fails the payment', KEYSEND],
  ['needs pay_invoice, and counts in the budget', KEYSEND],
  ['pay_spontaneous keeps it, and the payee does not see it', KEYSEND],
  ['is a parameter of pay_spontaneous', KEYSEND],
  ['a hold invoice has them while it is held', HOLD],
  ['is for that hash, and is held when it is paid until it is settled', HOLD],
  ['tells a waiter that it is held', HOLD],
  ['may leave the amount to the payer, and then tells what is held', HOLD],
  ['canceled while it is held gives the payer the money back', HOLD],
  ['is announced twice: payment.held while pending, and payment.finalized at its end', HOLD],
  ['stays held over a restart, is announced once, and can be settled after it', HOLD],
  ['before the payment is held is error 106, and the payment goes on', HOLD],
  ['with a preimage of another hash is error 7, before and while it is held', HOLD],
  ['again does nothing', HOLD],
  ['and payment_hash need create_invoice and nothing more', HOLD],
  ['makes one invoice: another request is error 106, a repeat with its key gets the first', HOLD],
  ['that the wallet has paid cannot be received with, nor the other way round', HOLD],
  ['both addresses of a name can be paid', NAMES],
  ['every spelling of a name is read, and paid through its callback', NAMES],
  ["payer_name is never the payee's own name, by which the offer was found", NAMES],
  [
    'payments on offers, addresses and names issued here are announced too, failures as well',
    NAMES,
  ],
  ['description_hash stands in the invoice in place of a description', HASH],
  ['takes null beside a description hash', HASH],
  ['the hash of a request alone binds the proof as well', HASH],
  ['a completed outbound offer payment is proven, with the defaults of the contract', PROOF],
  ['the outside world pays an offer with payer name and message', PAYER_NAME],
  ['leaves nothing that could be sent, and a repeat finds the same payment', BLOCKS],
  ['hands out an address of each type, the same until it is paid, and segwit by default', BLOCKS],
  ['a send is pending with its transaction, and both sides complete at six confirmations', BLOCKS],
  ['an expired offer is refused, and expiration_secs shows in analyze', CLOCK],
  ['offers of the outside world settle, fail and hold', FREE_ROUTE],
  ['get payment.held where they ask for it, and --webhook-url only with --webhook-events', HOLD],
]);
