const OFFERS = 'LND has no BOLT 12 offers';
const NAMES = 'needs an offer; lnd-names.test.ts pays names on LND';
const PARTNER = 'LND does not support partner fees';
const CLOCK = 'the clock of a real node cannot be moved; the interop tests wait instead';
const LNURL = 'these LNURL services belong to the sandbox; lnd-lnurl.test.ts has its own';
const ROOT_SEED = 'these wallets have no root seed; lnd-root-seed.test.ts has one';
const FREE_ROUTE = 'both nodes share a channel, so that the route costs nothing';
const ESTIMATES = 'a chain without traffic has no real fee estimates';
const SANDBOX = 'is about the sandbox itself';

/** Conformance tests that LND cannot pass, each with the reason. */
export const LND_CANNOT: ReadonlyMap<string, string> = new Map([
  [
    'a credentials string is accepted with its padding and without',
    'only the first form of credentials of the sandbox needs padding',
  ],
  ['an offer takes many payments; message and offer_id arrive with the receiver', OFFERS],
  ['a minimum is a minimum', OFFERS],
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
  ['it can be changed for 24 hours, is then frozen for 90 days, and is updatable again', CLOCK],
  ['every spelling of a name is read, and paid through its callback', NAMES],
  ['takes a base fee of zero', PARTNER],
  ['takes a partner with the least fee', PARTNER],
  ['takes a partner with the largest fee', PARTNER],
  ['takes a base fee with an amount', PARTNER],
  [
    "reaches the partner's wallet on the same sandbox as an inbound payment, from any payer",
    PARTNER,
  ],
  [
    'inbound with partner fees: amount is net, fees what was taken, their sum what was paid',
    PARTNER,
  ],
  ['past its expiry it becomes failed / expired and is refused', CLOCK],
  [
    'a URI whose invoice was paid meets that payment once the invoice has expired, and pays no address',
    CLOCK,
  ],
  ['an expired client is refused and not listed', CLOCK],
  ['renews with its period by the clock of the node', CLOCK],
  ['a replaced payment names the other transaction, and fails at its six confirmations', SANDBOX],
  [
    'first money opens a channel just in time, and an info payment records the waived cost',
    SANDBOX,
  ],
  ['what lightning_sendable_balance says can be sent to the outside world', SANDBOX],
  ['node_info tells true sums: what max_sendable says can be sent, and not more', SANDBOX],
  ['the sandbox funds a wallet on request', SANDBOX],
  ['the documentation is served, and lists every endpoint', SANDBOX],
  ['the build, its node and the process are shown', SANDBOX],
  ['open wallets, sessions and feeds are shown while they are open', SANDBOX],
  ['and what is secret or names a wallet, client or payment never appears', SANDBOX],
  ['LNURL-pay: terms in analyze, limits, comment cut to length, payment', LNURL],
  [
    'the services of the sandbox answer any wallet that calls them, as LUD-06 and LUD-16 say',
    LNURL,
  ],
  [
    'a callback carries the LNURL alone, percent-encoded, and the amount of the URI around it',
    LNURL,
  ],
  ["the amount of a URI is the LNURL's too, and must lie within its limits", LNURL],
  ["a withdrawal's description is as long as an invoice's may be, and no longer", LNURL],
  ['the price of an LNURL service is told, and paid only when the caller names it', LNURL],
  ['pay takes no other amount than an invoice encodes, whatever stands beside it', LNURL],
  ['LNURL-withdraw: claimable in analyze, the most by default, limits', LNURL],
  [
    'a channel is opened once for its id, usable after a block, and closed into coins',
    'the opener of an LND channel pays for its commitment, so the sums are others',
  ],
  [
    'routing to the outside world costs a fee, and the cap of max_fee fails the payment',
    FREE_ROUTE,
  ],
  ['every method can be paid by pay from a second wallet', LNURL],
  ['with the root seed is kind root_seed, scope full, and null where it does not apply', ROOT_SEED],
  ['the credentials string does not hold the root seed', ROOT_SEED],
  ['signup and provision are idempotent and refuse an Authorization header', ROOT_SEED],
  ['outgoing amounts with fees count, and what is beyond is error 109', FREE_ROUTE],
  ['concurrent payments never exceed it together', FREE_ROUTE],
  ['on-chain sends count with their fee', ESTIMATES],
  ['higher priority pays a higher fee', ESTIMATES],
]);
