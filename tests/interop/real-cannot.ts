const PARTNER = 'real nodes do not support partner fees';
/** Of any test that needs a later time. */
export const CLOCK = 'the clock of a real node cannot be moved; the interop tests wait instead';
const LNURL = 'these LNURL services belong to the sandbox; lnd-lnurl.test.ts has its own';
const ROOT_SEED = 'these wallets have no root seed; lnd-root-seed.test.ts has one';
/** Of any test that expects a routing fee. */
export const FREE_ROUTE = 'both nodes share a channel, so that the route costs nothing';
const ESTIMATES = 'a chain without traffic has no real fee estimates';
const SANDBOX = 'is about the sandbox itself';

/** Conformance tests that no real node can pass, each with the reason. */
export const REAL_NODES_CANNOT: ReadonlyMap<string, string> = new Map([
  [
    'a credentials string is accepted with its padding and without',
    'only the first form of credentials of the sandbox needs padding',
  ],
  ['it can be changed for 24 hours, is then frozen for 90 days, and is updatable again', CLOCK],
  [
    'after a mixed history the last balance is that of the node',
    'they do not tell what closing a channel costs',
  ],
  [
    'what is on its way makes a last row, and is the reason that it gives',
    'their balance held more than payments before the test',
  ],
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
  ['ends as not approved after an hour by the clock of the node, also over a restart', CLOCK],
  ['ends as expired where its invoice has expired when it is approved', CLOCK],
  ['ends what waits as soon as the client has expired', CLOCK],
  [
    'ends as failed with the words of a node that refuses it, and its budget is given back',
    'a real node takes the payment on, and fails it later',
  ],
  [
    'lets the client open a channel of which the fee is not above it',
    'the channels of real nodes are opened by the tests of channels',
  ],
  [
    'a URI whose invoice was paid meets that payment once the invoice has expired, and pays no address',
    CLOCK,
  ],
  ['an expired client is refused and not listed', CLOCK],
  ['renews with its period by the clock of the node', CLOCK],
  ['tells of each period by the clock of the node', CLOCK],
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
  [
    'a channel is opened once for its id, usable after a block, and closed into coins',
    'the opener of a real channel pays for its commitment, so the sums are others',
  ],
  [
    'message and personal_note of the pay calls are read from the query',
    'pays an offer, an LNURL service and a node without an invoice in one test',
  ],
  ['pay_lnurl, withdraw_lnurl and buy_with_payment_app keep it', LNURL],
  ['description of a withdrawal is read from the query', 'needs an LNURL service that pays out'],
  [
    'an on-chain payment that the node refuses to sign is failed, and its budget is given back',
    'it needs a wallet of its own, whose coins are all spent',
  ],
  [
    'gives the paid web resource once it is approved, and frees the key when it is rejected',
    'its service is on this machine, where a sidecar of a real node asks nobody',
  ],
  [
    'every example of /llms-full.txt does what it says, as it is written',
    'it looks for its payments in the first page of updates, and other tests have made more on a real node',
  ],
]);
