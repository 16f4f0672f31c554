import { setDefaultTimeout } from 'bun:test';
import { GROUPS } from '../../contracts/node/kind.ts';
import {
  ATTEMPTS_ARE_NUMBERED,
  MEETS_ANOTHER,
  REPEATS_SAFELY,
} from '../../contracts/node/payments.ts';
import { BROKEN_FEED_THROWS } from '../../contracts/node/updates.ts';
import { nodeContract } from '../../contracts/node.ts';
import { openTrialSandbox } from '../../support/trial-sandbox.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Of nobody in this world. */
const FOREIGN_ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

nodeContract({
  kind: 'sandbox',
  groups: GROUPS,
  cannot: [
    { rule: ATTEMPTS_ARE_NUMBERED, reason: "its payments carry the wallet's own index" },
    { rule: REPEATS_SAFELY, reason: 'it keeps its own history, so nothing is ever sent again' },
    { rule: MEETS_ANOTHER, reason: 'nobody else pays from its wallets' },
    { rule: BROKEN_FEED_THROWS, reason: 'it runs in this process, so there is no connection' },
  ],
  async open() {
    const { connector, controls } = openTrialSandbox(':memory:', { now: () => Date.now() });
    const { rootSeed } = await controls.createWallet();
    return {
      connector,
      openOwner: () => connector.connectRoot(Buffer.from(rootSeed, 'hex')),
      outside: {
        async invoice({ amountMsat, behavior, expirySecs = 3600 }) {
          const made = await controls.createInvoice({
            ...{ amountMsat, behavior, description: 'outside', expirationSecs: expirySecs },
          });
          return { invoice: made.invoice, hash: made.paymentHash };
        },
        decide: (paymentHash, settle) => controls.decideHold({ paymentHash, settle }),
        async pays(invoice) {
          const order = { payable: invoice, amountMsat: null, message: null, payerName: null };
          const { status } = await controls.pay(order);
          if (status !== 'completed') throw new Error(`the payment is ${status}`);
        },
        async paysHeld(invoice) {
          const order = { payable: invoice, amountMsat: null, message: null, payerName: null };
          const { status } = await controls.pay(order);
          if (status !== 'pending') throw new Error(`the payment is ${status}`);
        },
        address: () => FOREIGN_ADDRESS,
        async sendsCoins(address, amountMsat) {
          await controls.pay({ payable: address, amountMsat, message: null, payerName: null });
          await controls.mine(1);
        },
        mine: async (count) => void (await controls.mine(count)),
        advanceClock: async (secs) => void (await controls.advanceClock(secs)),
        async offer() {
          const terms = {
            minAmountMsat: null,
            description: 'outside',
            behavior: 'settle',
          } as const;
          return (await controls.createOffer(terms)).offer;
        },
        cut: null,
      },
      close: () => connector.close(),
    };
  },
});
