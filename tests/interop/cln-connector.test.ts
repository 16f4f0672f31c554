import { setDefaultTimeout } from 'bun:test';
import { ATTEMPTS_ARE_NUMBERED, UNSENT_IS_NEVER } from '../contracts/node/payments.ts';
import { nodeContract } from '../contracts/node.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { openClnNodeWorld } from './cln-node-world.ts';
import { describeClnNetwork } from './harness/index.ts';

setDefaultTimeout(SLOW_TEST_MS);

const CLOCK_STANDS = 'the clock of a real node cannot be moved';

describeClnNetwork('the connector on a real Core Lightning', (network) => {
  nodeContract({
    kind: 'cln',
    groups: ['offers', 'onchain', 'channels', 'tokens', 'proofs'],
    cannot: [
      { rule: ATTEMPTS_ARE_NUMBERED, reason: 'it keeps our index, and needs no number' },
      {
        rule: UNSENT_IS_NEVER,
        reason: 'a request on its way may arrive until the invoice expires',
      },
      ...[
        'an invoice that has expired is refused, and what was not sent of it is never sent',
        'an invoice that nobody paid in time is failed as expired, and cannot be paid',
        'an invoice that ends unpaid is in the feed, canceled or expired',
      ].map((rule) => ({ rule, reason: CLOCK_STANDS })),
    ],
    open: () => openClnNodeWorld(network()),
  });
});
