import { setDefaultTimeout } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import { OWN_INDEX, UNSENT_IS_NEVER } from '../../contracts/node/payments.ts';
import { nodeContract } from '../../contracts/node.ts';
import { startFakeLnd } from '../../hostile/fake-lnd.ts';
import { memoryState } from '../../support/memory-state.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Of nobody that the fake knows. */
const FOREIGN_ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

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
    const entry = {
      kind: 'lnd' as const,
      url: fake.url,
      cert: fake.cert,
      nodePk: fake.pubkey,
      network: 'regtest' as const,
      token: fake.adminMacaroon,
    };
    const connector = openLnd({
      state: memoryState(),
      clock: { now: () => Date.now() + offsetMs },
      random: (bytes) => new Uint8Array(randomBytes(bytes)),
      root: null,
      entries: [entry],
      proxy: null,
      channelPeer: { pubkey: `02${'ab'.repeat(32)}`, host: '127.0.0.1:1' },
      mark: 'aa'.repeat(16),
    });
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
        cut: () => fake.restart(),
      },
      async close() {
        await connector.close();
        await fake.stop();
      },
    };
  },
});
