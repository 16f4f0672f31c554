import { describe, setDefaultTimeout, test } from 'bun:test';
import { isHeld } from '../../../src/model/payment.ts';
import { type LdkRow, shapes } from '../../../src/nodes/ldk/words/words.ts';
import { GROUPS } from '../../contracts/node/kind.ts';
import { FETCHED_ONCE } from '../../contracts/node/offers.ts';
import { OWN_INDEX } from '../../contracts/node/payments.ts';
import { lightningId } from '../../contracts/node/steps.ts';
import { nodeContract } from '../../contracts/node.ts';
import { hasLdkHelper, openLdkNetwork } from '../../support/ldk-network.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Of nobody in this world. */
const FOREIGN_ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

const NO_CLOCK = [
  'an invoice that nobody paid in time is failed as expired, and cannot be paid',
  'an invoice that has expired is refused, and what was not sent of it is never sent',
  'an invoice that ends unpaid is in the feed, canceled or expired',
  'what is held does not expire with its invoice',
].map((rule) => ({ rule, reason: 'the clock of its process cannot be moved' }));

const NO_MESSAGES = [
  'a spontaneous payment is known when it has begun, and completed with the preimage of its order',
  'a preimage is paid once, however often it is ordered',
].map((rule) => ({ rule, reason: 'the other node, an LDK node too, takes no message' }));

if (!hasLdkHelper()) {
  describe('a node of kind ldk', () => {
    test.skip('its contract (no helper was built: npm run build:helper)', () => undefined);
  });
} else {
  nodeContract({
    kind: 'ldk',
    groups: GROUPS.filter((group) => !['history', 'notes', 'proofs'].includes(group)),
    cannot: [
      ...NO_CLOCK,
      ...NO_MESSAGES,
      { rule: OWN_INDEX, reason: 'its attempts have numbers' },
      { rule: FETCHED_ONCE, reason: 'it fetches the invoice itself' },
    ],
    async open() {
      const network = await openLdkNetwork();
      const { chain, outside, connector, rootSeed } = network;
      return {
        connector,
        openOwner: () => connector.connectRoot(rootSeed),
        outside: {
          async invoice({ amountMsat, behavior, expirySecs }) {
            const holds = behavior === 'hold';
            const made = await outside.invoice({
              ...{ amountMsat, holds },
              ...(expirySecs === undefined ? {} : { expirySecs }),
            });
            if (behavior === 'fail') await outside.cancel(made.hash);
            return made;
          },
          async decide(hash, settle) {
            await until(() => outside.isHolding(hash), 'the payment has arrived');
            await (settle ? outside.settle(hash) : outside.cancel(hash));
          },
          async pays(invoice) {
            const { state, reason } = await outside.pays(invoice);
            if (state !== 'completed') throw new Error(`the payment is ${state}: ${reason}`);
          },
          async paysHeld(invoice) {
            const { key, hash } = await outside.pays(invoice, 0);
            const { node } = await connector.connectRoot(rootSeed);
            await until(async () => {
              const row = await outside.call<LdkRow | null>('row', { key }, shapes().rowOrNull);
              if (row?.state !== 'pending') {
                throw new Error(`the payment of ${hash} is ${row?.state}: ${row?.reason}`);
              }
              const found = await node.latestPayment(lightningId(hash ?? ''));
              return found !== null && isHeld(found.payment);
            }, 'the payment is held');
          },
          address: () => FOREIGN_ADDRESS,
          async sendsCoins(address, amountMsat) {
            chain.fund(address, amountMsat / 1000n);
            await network.mine(1);
          },
          mine: (blocks) => network.mine(blocks),
          advanceClock: () => Promise.reject(new Error('The clock cannot be moved.')),
          offer: () => outside.offer({ amountMsat: null }),
          // Its process is started again at once.
          cut: { away: () => network.killHelper(), back: async () => undefined },
        },
        close: () => network.close(),
      };
    },
  });
}
