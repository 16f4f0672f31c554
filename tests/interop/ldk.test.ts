import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeOffer } from '../../src/codecs/bolt12/index.ts';
import { paymentHashOf } from '../../src/codecs/preimage.ts';
import { randomHex } from '../contracts/node/steps.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { hasLdkHelper } from '../support/ldk-network.ts';
import { freePort } from '../support/ports.ts';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { caughtUp } from './harness/channels.ts';
import { describeKinds, TITLES } from './kinds.ts';
import { type NodeSidecar, paymentEnd, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const TITLE = "the sidecar's own node with channels from and to another";
const COINS_SAT = 3_000_000n;
const CHANNEL_SAT = 1_000_000n;

if (!hasLdkHelper()) {
  describe(TITLE, () => {
    test.skip('all of it (no helper was built: npm run build:helper)', () => undefined);
  });
} else {
  describeKinds(TITLE, (network, kind) => {
    const folder = temporaryFolder('ldk-interop');
    const peerAddress = `127.0.0.1:${freePort()}`;
    let sidecar: NodeSidecar;
    let pubkey: string;
    /** Bob's node, and alice's, to which bob has a channel. */
    const bob = () => network().bob;
    const alice = () => network().alice;

    const info = () => sidecar.get('/v2/node/node_info');
    const payment = (index: string) => sidecar.get('/v2/node/payment', { index });
    const invoice = (order: Body) => sidecar.post('/v2/node/create_invoice', order);
    const pay = (order: Body) => sidecar.post('/v2/node/pay_invoice', order);
    const canUse = (channels: number) =>
      waitUntil('the channels can be used', async () => {
        return (await info()).num_usable_channels === channels;
      });
    /** The newest payment like this that is pending, or completed, as soon as there is one. */
    const listed = (filter: string, fields: Body) =>
      waitUntil('it is in the list', async () => {
        await sidecar.put('/v2/node/sync_payments');
        const { payments } = await sidecar.get('/v2/node/list_payments', { filter });
        const has = (one: Body) => Object.entries(fields).every(([name, is]) => one[name] === is);
        return payments.find(has) ?? false;
      });
    /** What of the channels is ours, in satoshis. */
    let ours = 0;
    /** Waits until the balance shows this too; below a channel's reserve it is in whole satoshis. */
    const moved = (sats: number) => {
      ours += sats;
      return waitUntil(`${ours} sat in channels`, async () => {
        return Math.abs(Number((await info()).lightning_balance) - ours) < 1;
      });
    };
    const mine = async (blocks: number) => {
      const { btcd } = network();
      await btcd.generate(blocks);
      await caughtUp(btcd, [alice().steps, bob().steps]);
    };

    beforeAll(async () => {
      const seedPath = join(folder, 'seed');
      writeFileSync(seedPath, randomHex(32), { mode: 0o600 });
      sidecar = await startNodeSidecar([
        ...['--node', 'ldk', '--network', 'regtest', '--esplora-url', network().esploraUrl],
        ...['--root-seed-path', seedPath, '--lightning-listen-addr', peerAddress],
        ...['--channel-peer', `${bob().pubkey}@${bob().peerAddress}`],
      ]);
      pubkey = (await info()).node_pk;
      const { address } = await sidecar.post('/v2/node/get_next_unused_address');
      await network().btcd.send([{ address, amountSat: COINS_SAT }]);
      await mine(1);
      await waitUntil('the coins are there', async () => {
        return (await info()).onchain_balance === `${COINS_SAT}`;
      });
    });
    afterAll(async () => {
      await sidecar?.close();
      removeFolder(folder);
    });

    test('opens a channel, and has one opened to it', async () => {
      await sidecar.post('/v2/node/open_channel', { value: `${CHANNEL_SAT}` });
      await mine(6);
      await canUse(1);
      const { steps } = bob();
      await steps.connect({ pubkey, peerAddress });
      await steps.open(
        { pubkey, peerAddress },
        { fundingSat: CHANNEL_SAT, pushSat: 0n, isPrivate: true },
      );
      await mine(6);
      await canUse(2);
      const first = await invoice({ amount: '1000' });
      await waitUntil('bob knows the way', () => bob().pays(first.invoice));
      const { channels } = await sidecar.get('/v2/node/list_channels');
      expect(channels.map((one: Body) => one.channel_value)).toEqual(['1000000', '1000000']);
      await moved(1_001_000);
    });

    test('pays an invoice', async () => {
      const made = await bob().invoice({ amountMsat: 70_000_123 });
      const paid = await pay({ invoice: made.invoice });
      expect(paid).toMatchObject({
        ...{ status: 'completed', amount: '70000.123', fees: '0', hash: made.hash },
      });
      expect(paymentHashOf(paid.preimage)).toBe(made.hash);
      await moved(-70_000.123);
      expect(await pay({ invoice: made.invoice })).toEqual(paid);
    });

    test('pays an invoice without an amount', async () => {
      const made = await bob().invoice({ amountMsat: null });
      const paid = await pay({ invoice: made.invoice, fallback_amount: '31' });
      expect(paid).toMatchObject({ status: 'completed', amount: '31' });
      await moved(-31);
    });

    test.each([
      { amount: '5000.5', title: 'an invoice' },
      { amount: null, title: 'an invoice without an amount' },
    ])('is paid by $title', async ({ amount }) => {
      const made = await invoice(amount === null ? {} : { amount });
      expect(await bob().pays(made.invoice, amount === null ? '5000500' : undefined)).toBe(true);
      const got = await paymentEnd(sidecar, made.index);
      expect(got).toMatchObject({ status: 'completed', amount: '5000.5', fees: '0' });
      expect(paymentHashOf(got.preimage)).toBe(made.payment_hash);
      await moved(5000.5);
    });

    test('pays through another node, with its fee, and is paid through it', async () => {
      const made = await alice().invoice({ amountMsat: 20_000_000 });
      const paid = await pay({ invoice: made.invoice });
      expect(paid).toMatchObject({ status: 'completed', amount: '20000' });
      expect(Number(paid.fees)).toBeGreaterThan(0);
      await moved(-20_000 - Number(paid.fees));
      const asked = await invoice({ amount: '10000' });
      expect(await alice().pays(asked.invoice)).toBe(true);
      expect((await paymentEnd(sidecar, asked.index)).status).toBe('completed');
      await moved(10_000);
    });

    test('pays without an invoice, and is paid so by LND without a message', async () => {
      const order = { node_pk: bob().pubkey, amount: '321', message: 'héllo' };
      const paid = await sidecar.post('/v2/node/pay_spontaneous', order);
      expect(paid).toMatchObject({ status: 'completed', amount: '321', rail: 'spontaneous' });
      // Core Lightning's xkeysend leaves the payee 22 blocks, and LDK takes nothing with 40 or fewer.
      const isTaken = bob().kind === 'lnd';
      expect(await bob().keysends(pubkey, '43210', '')).toBe(isTaken);
      if (isTaken) {
        const got = await listed('completed', { amount: '43.21' });
        expect(got).toMatchObject({ rail: 'spontaneous', direction: 'inbound', invoice: null });
      }
      await moved((isTaken ? 43.21 : 0) - 321);
    });

    // LND has no offers.
    if (kind.title === TITLES.cln) {
      const payOffer = async (offer: string, amount: string) => {
        // Core Lightning refuses what is to expire too soon, until LDK has seen the blocks that were mined just now.
        const paid = await waitUntil('LDK knows the tip, and the offer is paid', async () => {
          const one = await sidecar.post('/v2/node/pay_offer', { offer, amount, message: 'tea' });
          return one.status === 'completed' && one;
        });
        expect(paid).toMatchObject({ status: 'completed', rail: 'offer', amount, message: 'tea' });
        expect(paymentHashOf(paid.preimage)).toBe(paid.hash);
        return Number(paid.fees);
      };

      test('pays offers, also through another node', async () => {
        for (const [payee, amount] of [
          [bob(), 4000],
          [alice(), 5000],
        ] as const) {
          const made = await payee.offer?.('tea');
          await moved(-amount - (await payOffer(made?.offer ?? '', `${amount}`)));
        }
      });

      test('is paid on its offers, also through another node and again', async () => {
        // Core Lightning pays what an offer asks for, and no other amount.
        const terms = { description: 'cake' };
        const { offer } = await sidecar.post('/v2/node/create_offer', terms);
        const { offerId: offer_id } = decodeOffer(offer);
        for (const [payer, amountMsat] of [
          [bob(), '61001'],
          [alice(), '71002'],
          [bob(), '81003'],
        ] as const) {
          expect(await payer.pays(offer, amountMsat)).toBe(true);
          const amount = `${Number(amountMsat) / 1000}`;
          const got = await listed('completed', { amount, direction: 'inbound' });
          expect(got).toMatchObject({ rail: 'offer', offer_id, description: 'cake' });
          await moved(Number(amount));
        }
      });
    }

    test('what the receiver holds is pending, and ends as it decides', async () => {
      for (const settles of [true, false]) {
        const hold = await bob().holds('6000000');
        const paying = pay({ invoice: hold.invoice });
        await hold.accepted();
        await listed('pending', { hash: hold.hash });
        await (settles ? hold.settle() : hold.cancel());
        expect(await paying).toMatchObject(
          settles
            ? { status: 'completed', preimage: hold.preimage }
            : { status: 'failed', status_msg: 'rejected by the receiver', preimage: null },
        );
      }
      await moved(-6000);
    });

    test('holds what it is paid, and settles it or gives it back', async () => {
      for (const settles of [true, false]) {
        const preimage = randomHex(32);
        const made = await invoice({ amount: '2500', payment_hash: paymentHashOf(preimage) });
        const paying = bob().pays(made.invoice);
        await waitUntil('it is held', async () => {
          return (await payment(made.index)).status_msg === 'held';
        });
        const { index } = made;
        await (settles
          ? sidecar.post('/v2/node/settle_invoice', { index, preimage })
          : sidecar.post('/v2/node/cancel_payment', { index }));
        expect(await paying).toBe(settles);
        expect(await paymentEnd(sidecar, index)).toMatchObject(
          settles
            ? { status: 'completed', preimage }
            : { status: 'failed', status_msg: 'canceled' },
        );
      }
      await moved(2500);
    });

    test('an invoice that was canceled or has expired is paid by nobody', async () => {
      const canceled = await bob().invoice({ amountMsat: 9000 });
      await bob().cancel(canceled.hash);
      expect(await pay({ invoice: canceled.invoice })).toMatchObject({
        ...{ status: 'failed', status_msg: 'rejected by the receiver' },
      });
      const own = await invoice({ amount: '9' });
      await sidecar.post('/v2/node/cancel_payment', { index: own.index });
      expect(await bob().pays(own.invoice)).toBe(false);
      const bobs = await bob().invoice({ amountMsat: 9000, expirySecs: 1 });
      const late = await invoice({ amount: '9', expiration_secs: 1 });
      expect(await paymentEnd(sidecar, late.index)).toMatchObject({
        ...{ status: 'failed', status_msg: 'expired' },
      });
      const body = { invoice: bobs.invoice };
      const answer = await sidecar.call('POST', '/v2/node/pay_invoice', { body });
      expect(answer.body).toMatchObject({ code: 106, data: { sent: 'no' } });
      await moved(0);
    });

    test('what is on its way ends as the receiver decides, also when one was away', async () => {
      const hold = await bob().holds('7000000');
      const paying = pay({ invoice: hold.invoice });
      paying.catch(() => undefined);
      await hold.accepted();
      await sidecar.kill();
      await sidecar.start();
      await canUse(2);
      const { index } = await listed('pending', { hash: hold.hash });
      await hold.settle();
      expect((await paymentEnd(sidecar, index)).status).toBe('completed');
      const made = await invoice({ amount: '100' });
      await bob().kill();
      await bob().start();
      await bob().steps.connect({ pubkey, peerAddress });
      await canUse(2);
      expect(await bob().pays(made.invoice)).toBe(true);
      expect((await paymentEnd(sidecar, made.index)).status).toBe('completed');
      await moved(100 - 7000);
    });

    test('closes a channel together with the other, asked by either, and gets its money', async () => {
      const before = await info();
      const { channels } = await sidecar.get('/v2/node/list_channels');
      const [richest] = channels.toSorted(
        (a: Body, b: Body) => Number(b.our_balance) - Number(a.our_balance),
      );
      const { channel_id } = richest;
      await sidecar.post('/v2/node/close_channel', { channel_id });
      await waitUntil('it is closed', async () => (await info()).num_channels === 1);
      await mine(6);
      await bob().steps.close({ pubkey, peerAddress });
      await waitUntil('it is closed', async () => (await info()).num_channels === 0);
      await mine(6);
      // Less what miners get.
      const least = Number(before.onchain_balance) + ours - 25_000;
      await waitUntil('all is on chain', async () => {
        const now = await info();
        return now.lightning_balance === '0' && Number(now.onchain_balance) > least;
      });
    });
  });
}
