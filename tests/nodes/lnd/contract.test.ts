import { setDefaultTimeout } from 'bun:test';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import { OWN_INDEX, UNSENT_IS_NEVER } from '../../contracts/node/payments.ts';
import { nodeContract } from '../../contracts/node.ts';
import { startFakeLnd } from '../../hostile/fake-lnd.ts';
import { remoteOptions, SOME_PEER } from '../../support/remote-options.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { entryOnFake } from './connected-on-fake.ts';
import { FOREIGN_ADDRESS } from './wallet-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

nodeContract({
  kind: 'lnd',
  groups: ['spontaneous', 'holdInvoices', 'onchain', 'channels', 'tokens'],
  cannot: [
    { rule: OWN_INDEX, reason: 'it keeps no index of ours, and knows an attempt by its number' },
    { rule: UNSENT_IS_NEVER, reason: 'a request on its way may arrive until the invoice expires' },
  ],
  async open() {
    const fake = await startFakeLnd({ onchainSat: 10_000_000n, channelSat: 10_000_000n });
    let offsetMs = 0;
    const entry = entryOnFake(fake);
    const clock = { now: () => Date.now() + offsetMs };
    const connector = openLnd(remoteOptions([entry], { clock, channelPeer: SOME_PEER }));
    return {
      connector,
      openOwner: () => connector.connectConfigured(entry),
      outside: {
        async invoice({ amountMsat, behavior, expirySecs }) {
          const made = fake.payments.foreignInvoice({
            amountMsat,
            ...(expirySecs === undefined ? {} : { expirySecs }),
          });
          if (behavior !== 'settle') {
            fake.payments.decide(made.hash, { end: behavior });
          }
          return made;
        },
        async decide(hash, settle) {
          fake.payments.resolve(hash, settle ? { end: 'succeed' } : { end: 'fail' });
        },
        async pays(invoice) {
          fake.paysInvoice(decodeBolt11(invoice).paymentHash);
        },
        async paysHeld(invoice) {
          fake.invoices.accept(decodeBolt11(invoice).paymentHash);
        },
        address: () => FOREIGN_ADDRESS,
        async sendsCoins(address, amountMsat) {
          fake.wallet.receive(amountMsat / 1000n, { address });
          fake.wallet.mine(1);
        },
        mine: async (count) => fake.wallet.mine(count),
        async advanceClock(secs) {
          offsetMs += secs * 1000;
          fake.advanceClock(secs);
        },
        offer: null,
        cut: { away: () => fake.restart(), back: async () => undefined },
      },
      async close() {
        await connector.close();
        await fake.stop();
      },
    };
  },
});
