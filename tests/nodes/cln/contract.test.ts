import { setDefaultTimeout } from 'bun:test';
import { ATTEMPTS_ARE_NUMBERED, UNSENT_IS_NEVER } from '../../contracts/node/payments.ts';
import { nodeContract } from '../../contracts/node.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { openFakeNode } from './fake-node.ts';

setDefaultTimeout(SLOW_TEST_MS);

nodeContract({
  kind: 'cln',
  groups: ['offers', 'onchain', 'channels', 'tokens', 'proofs'],
  cannot: [
    { rule: ATTEMPTS_ARE_NUMBERED, reason: 'it keeps our index, and needs no number' },
    { rule: UNSENT_IS_NEVER, reason: 'a request on its way may arrive until the invoice expires' },
  ],
  open: openFakeNode,
});
