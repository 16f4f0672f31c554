import { setDefaultTimeout } from 'bun:test';
import { ATTEMPTS_ARE_NUMBERED, OWN_INDEX, UNSENT_IS_NEVER } from '../contracts/node/payments.ts';
import { nodeContract } from '../contracts/node.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { describeClnNetwork, describeNetwork } from './harness/index.ts';
import { realCln, realLnd } from './kinds.ts';
import { openNodeWorld } from './node-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

const NOT_ON_REAL_NODES = [
  { rule: UNSENT_IS_NEVER, reason: 'a request on its way may arrive until the invoice expires' },
  ...[
    'an invoice that has expired is refused, and what was not sent of it is never sent',
    'an invoice that nobody paid in time is failed as expired, and cannot be paid',
    'an invoice that ends unpaid is in the feed, canceled or expired',
  ].map((rule) => ({ rule, reason: 'the clock of a real node cannot be moved' })),
];

describeNetwork('the connector on a real LND', (network) => {
  nodeContract({
    kind: 'lnd',
    groups: ['spontaneous', 'holdInvoices', 'onchain', 'channels', 'tokens'],
    cannot: [
      ...NOT_ON_REAL_NODES,
      {
        rule: OWN_INDEX,
        reason: 'it keeps no index of ours, and knows an attempt by its number',
      },
      {
        rule: 'a hold invoice is held when it is paid, and completed with the preimage that settles it',
        reason: 'its balance pays for the larger commitment meanwhile; lnd-holds.test.ts has it',
      },
      {
        rule: 'what is held does not expire with its invoice',
        reason: 'the clock of a real node cannot be moved',
      },
    ],
    open: () => openNodeWorld(realLnd(network())),
  });
});

describeClnNetwork('the connector on a real Core Lightning', (network) => {
  nodeContract({
    kind: 'cln',
    groups: ['offers', 'onchain', 'channels', 'tokens', 'proofs'],
    cannot: [
      ...NOT_ON_REAL_NODES,
      { rule: ATTEMPTS_ARE_NUMBERED, reason: 'it keeps our index, and needs no number' },
    ],
    open: () => openNodeWorld(realCln(network())),
  });
});
