import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeInvoice, decodeOffer, type Offer } from '../../../../src/codecs/bolt12/index.ts';
import { paymentId, paymentIndex } from '../../../../src/model/payment-index.ts';
import type { PayOnchainCommand, SignedSend } from '../../../../src/nodes/node.ts';
import { MINING_FEES } from '../../../../src/nodes/sandbox/chain/broadcast.ts';
import { GENESIS } from '../../../../src/nodes/sandbox/chain/genesis.ts';
import {
  closeChannel,
  openChannel,
} from '../../../../src/nodes/sandbox/lightning/channel-orders.ts';
import { liveChannels } from '../../../../src/nodes/sandbox/lightning/channels.ts';
import { paySpontaneously } from '../../../../src/nodes/sandbox/lightning/outside.ts';
import { startFetchedPayment } from '../../../../src/nodes/sandbox/lightning/payments.ts';
import {
  createOffer,
  fetchInvoiceOf,
  type OfferIssuer,
} from '../../../../src/nodes/sandbox/offers/offers.ts';
import { payOfferFromOutside } from '../../../../src/nodes/sandbox/offers/outside.ts';
import { nextUnusedAddress } from '../../../../src/nodes/sandbox/onchain/funds.ts';
import { replaceOutsidePayment } from '../../../../src/nodes/sandbox/onchain/replace.ts';
import {
  publishOnchain,
  releaseSigned,
  signOnchain,
} from '../../../../src/nodes/sandbox/onchain/send.ts';
import { balanceMsat } from '../../../../src/nodes/sandbox/world/ledger.ts';
import type { World } from '../../../../src/nodes/sandbox/world/world.ts';
import { ledgerGaps, onchainWorld, payOnchain } from '../../../support/onchain-world.ts';
import { rounds } from '../../../support/rounds.ts';

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'offer',
      'outside offer',
      'spontaneous',
      'onchain',
      'sign',
      'publish',
      'release',
      'time',
      'fund',
      'replace',
      'open',
      'close',
      'mine',
    ),
    from: fc.nat(1),
    sats: fc.integer({ min: 300, max: 80_000 }),
    id: fc.constantFrom('a', 'b', 'c', 'd'),
  }),
  { maxLength: 25 },
);

function total(world: World): bigint {
  const row = world.db
    .query<{ sum: string }, []>('SELECT CAST(sum(balance_msat) AS TEXT) AS sum FROM accounts')
    .get();
  return BigInt(row?.sum ?? '0');
}

describe('money across all rails', () => {
  test('is conserved, coins match the ledger, and an id never sends twice, whatever happens in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (operations) => {
        const { world, miner, wallet, fund, command } = onchainWorld();
        const wallets = [wallet(), wallet()];
        for (const userPk of wallets) {
          fund(userPk, 200_000);
          paySpontaneously(world, userPk, { amountMsat: 200_000_000n, message: null });
        }
        const terms = {
          description: null,
          minAmountMsat: null,
          expiresAtMs: null,
          externalId: null,
        };
        const issue = (issuer: OfferIssuer) => decodeOffer(createOffer(world, issuer, terms).offer);
        const offers = wallets.map((userPk) => issue({ userPk, behavior: 'settle' }));
        const outside = issue({ userPk: null, behavior: 'settle' });
        const unconfirmed: string[] = [];
        const signed: { payer: string; order: PayOnchainCommand; send: SignedSend }[] = [];
        for (const { kind, from, sats, id } of operations) {
          const payer = wallets[from] ?? '';
          const receiver = wallets[1 - from] ?? '';
          const amountMsat = BigInt(sats) * 1000n;
          const hex = id.repeat(64);
          const payOffer = (offer: Offer) => {
            const createdAtMs = world.clock.now();
            const index = paymentIndex(createdAtMs, paymentId('fs', hex));
            const wish = { offer, amountMsat, message: null, viaName: null };
            startFetchedPayment(world, payer, {
              index,
              createdAtMs,
              invoice: decodeInvoice(fetchInvoiceOf(world, payer, wish)),
              maxFeeMsat: 100_000n,
              personalNote: null,
              externalId: null,
            });
          };
          const act = {
            offer: () => payOffer(offers[1 - from] ?? outside),
            'outside offer': () => payOffer(outside),
            spontaneous: () =>
              payOfferFromOutside(world, {
                offer: offers[from] ?? outside,
                amountMsat,
                message: null,
                payerName: null,
              }),
            onchain: () =>
              payOnchain(
                world,
                payer,
                command(nextUnusedAddress(world, receiver, 'segwit'), sats, { id: hex }),
              ),
            sign: () => {
              const order = command(nextUnusedAddress(world, receiver, 'segwit'), sats, {
                id: hex,
              });
              signed.push({ payer, order, send: signOnchain(world, payer, order) });
            },
            publish: () => {
              const oldest = signed.shift();
              return oldest && publishOnchain(world, oldest.payer, oldest.order, oldest.send);
            },
            release: () => {
              const newest = signed.pop();
              return newest && releaseSigned(world, newest.payer, newest.send);
            },
            time: () => world.clock.advance(400_000),
            fund: () => unconfirmed.push(fund(payer, sats, { confirmed: false }).txid ?? ''),
            replace: () => replaceOutsidePayment(world, unconfirmed.pop() ?? ''),
            open: () =>
              openChannel(world, payer, {
                valueMsat: amountMsat,
                userChannelId: hex.slice(32),
                peer: null,
                maxFeeMsat: null,
              }),
            close: () =>
              closeChannel(world, payer, {
                channelId: liveChannels(world, payer)[0]?.channelId ?? '',
                maxFeeMsat: null,
              }),
            mine: () => miner.mine(1),
          }[kind];
          try {
            act();
          } catch (error) {
            expect(error).toMatchObject({ name: 'ApiError' });
          }
          await Promise.resolve();
          expect(total(world)).toBe(0n);
          const gaps = Object.entries(ledgerGaps(world));
          expect(
            gaps.filter(([owner, gap]) => gap !== 0n && !owner.startsWith('channel:')),
          ).toEqual([]);
        }
        const sends = world.db
          .query<{ user_pk: string; id: string; count: number }, []>(
            `SELECT user_pk, id, count(*) AS count FROM payments
             WHERE id LIKE 'os_%' OR id LIKE 'fs_%' GROUP BY user_pk, id`,
          )
          .all();
        expect(sends.filter(({ count }) => count !== 1)).toEqual([]);
        expect(balanceMsat(world, GENESIS)).toBe(-21_000_000n * 100_000_000n * 1000n);
        expect(balanceMsat(world, MINING_FEES) >= 0n).toBe(true);
      }),
      { numRuns: rounds(12, 60) },
    );
  }, 120_000);
});
