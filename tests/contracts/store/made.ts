import { beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DIRECTIONS, type Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import type { CacheQuery, Store } from '../../../src/store/ports.ts';
import { rounds } from '../../support/rounds.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { fits, newSpend, WALLET } from '../../support/store-steps.ts';

const [ONE, OTHER, OFFER] = ['01'.repeat(32), '02'.repeat(32), '0f'.repeat(32)];
const EVERYTHING: CacheQuery = {
  filter: 'all',
  order: 'asc',
  limit: 10_000,
  after: null,
  direction: null,
  rail: null,
  sinceMs: null,
  untilMs: null,
  externalId: null,
};

/** A payment that arrived on the offer. */
function receipt(number: number): Payment {
  const { createdAtMs, hash } = samplePayment(number);
  const index = paymentIndex(createdAtMs, paymentId('fr', hash ?? ''));
  return samplePayment(number, { index, rail: 'offer', direction: 'inbound', offerId: OFFER });
}

const STEP = fc.record({
  kind: fc.constantFrom('one', 'page', 'receipt', 'tell', 'change', 'ask', 'ask', 'clear'),
  at: fc.nat(),
  maker: fc.constantFrom(null, ONE, OTHER),
  description: fc.constantFrom('zimt', 'nelke'),
  direction: fc.constantFrom(...DIRECTIONS),
  status: fc.constantFrom('pending', 'completed', 'failed'),
  limit: fc.integer({ min: 1, max: 90 }),
  order: fc.constantFrom('asc', 'desc'),
  isWithin: fc.record({
    text: fc.boolean(),
    direction: fc.boolean(),
    filter: fc.boolean(),
    since: fc.boolean(),
    until: fc.boolean(),
  }),
});

/** What a client made, in lists and searches of the cache: {@link CacheQuery.maker}. */
export function madeContract(open: () => Promise<Store>, runsShare: number): void {
  describe('payments by who made them', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const apply = (payments: readonly Payment[]) => store.cache.apply(WALLET, payments, null);
    const find = async (maker: string, change: Partial<CacheQuery> = {}) => {
      const { json } = await store.cache.list(WALLET, { ...EVERYTHING, ...change, maker });
      return json.map((one) => (JSON.parse(one) as { index: string }).index);
    };
    const indexesOf = (payments: readonly Payment[]): string[] =>
      payments.map(({ index }) => index as string).toSorted();

    test('are found among many of others, by pages, with other filters', async () => {
      const payments = Array.from({ length: 2400 }, (_, at) =>
        samplePayment(at + 1, {
          description: at % 2 === 0 ? 'Zimt' : 'Nelke',
          status: at < 1200 ? 'completed' : 'pending',
        }),
      );
      const own = payments.filter((_, at) => at % 300 === 7 || at % 300 === 8);
      for (const { index } of own) await store.makers.keep(WALLET, index, ONE);
      for (let at = 0; at < 2400; at += 200) await apply(payments.slice(at, at + 200));
      expect(await find(ONE)).toEqual(indexesOf(own));
      expect(await find(OTHER)).toEqual([]);
      expect(await find(OTHER, { text: 'zimt' })).toEqual([]);
      expect(await find(ONE, { text: 'anis' })).toEqual([]);
      expect(await find(ONE, { text: 'zimt' })).toEqual(
        indexesOf(own.filter(({ description }) => description === 'Zimt')),
      );
      for (const filter of ['pending', 'completed', 'failed'] as const) {
        const fitting = own.filter(({ status }) => status === filter);
        expect(await find(ONE, { filter })).toEqual(indexesOf(fitting));
      }
      expect(await find(ONE, { direction: 'inbound' })).toEqual([]);
      expect(await find(ONE, { sinceMs: 309, untilMs: 1509 })).toEqual(indexesOf(own.slice(3, 11)));
      const read: string[] = [];
      for (let after: CacheQuery['after'] = null; ; ) {
        const query = { ...EVERYTHING, order: 'desc', limit: 3, after, maker: ONE } as const;
        const page = await store.cache.list(WALLET, query);
        read.push(...page.json.map((json) => (JSON.parse(json) as { index: string }).index));
        if (page.nextIndex === null) break;
        after = page.nextIndex;
      }
      expect(read).toEqual(indexesOf(own).toReversed());
    });

    test('are found where they arrived on an offer of a client, before and later', async () => {
      await store.makers.keep(WALLET, OFFER, ONE);
      const others = Array.from({ length: 60 }, (_, at) => samplePayment(at + 10));
      await apply([receipt(1), ...others]);
      expect(await find(ONE)).toEqual(indexesOf([receipt(1)]));
      await apply([receipt(2)]);
      const sent = samplePayment(3, { offerId: OFFER });
      await apply([sent]);
      expect(await find(ONE)).toEqual(indexesOf([receipt(1), receipt(2)]));
      expect(await find(ONE, { direction: 'outbound' })).toEqual([]);
      await store.cache.clear(WALLET);
      expect(await find(ONE)).toEqual([]);
      await apply([receipt(1), ...others, receipt(2), sent]);
      expect(await find(ONE)).toEqual(indexesOf([receipt(1), receipt(2)]));
    });

    test('are found where the maker is kept after the payment was stored', async () => {
      const page = Array.from({ length: 60 }, (_, at) => samplePayment(at + 1));
      await apply(page);
      await apply([samplePayment(100)]);
      for (const number of [5, 100]) {
        await store.makers.keep(WALLET, samplePayment(number).index, ONE);
      }
      expect(await find(ONE)).toEqual(indexesOf([samplePayment(5), samplePayment(100)]));
    });

    test('are found where a spend begins, and not where nothing was sent', async () => {
      const spent = [1, 2].map((number) => samplePayment(number));
      for (const payment of spent) {
        await store.spends.begin(WALLET, newSpend(payment, { caller: ONE }), fits);
      }
      await apply([...spent, ...Array.from({ length: 60 }, (_, at) => samplePayment(at + 3))]);
      expect(await find(ONE)).toEqual(indexesOf(spent));
      await store.spends.abandon(WALLET, samplePayment(2).index, fits.periodStart);
      expect(await find(ONE)).toEqual(indexesOf(spent.slice(0, 1)));
    });

    test('are those that a look at each finds, whatever was stored, told, changed and cleared before', async () => {
      await store.makers.keep(WALLET, OFFER, OTHER);
      const makers = new Map<string, string>();
      const cached = new Map<string, Payment>();
      const put = async (payments: readonly Payment[]) => {
        for (const payment of payments) cached.set(payment.index, payment);
        await apply(payments);
      };
      const tell = async (index: Payment['index'], maker: string | null) => {
        if (maker === null || makers.has(index)) return;
        makers.set(index, maker);
        await store.makers.keep(WALLET, index, maker);
      };
      let number = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), async (steps) => {
          for (const step of steps) {
            const { kind, at, maker, description, direction, status, isWithin } = step;
            const known = [...cached.values()][at % Math.max(cached.size, 1)];
            const made = () => samplePayment(++number, { description, direction, status });
            if (kind === 'one' || kind === 'page') {
              const some = Array.from({ length: kind === 'one' ? 1 : 60 }, made);
              for (const [each, { index }] of some.entries()) {
                if (each % 3 === 0) await tell(index, maker);
              }
              await put(some);
            } else if (kind === 'receipt') {
              const got = { ...receipt(++number), description, status };
              makers.set(got.index, OTHER);
              await put([got]);
            } else if (kind === 'clear') {
              await store.cache.clear(WALLET);
              const again = [...cached.values()];
              await apply(again);
            } else if (kind === 'tell' && known) {
              await tell(known.index, maker);
            } else if (kind === 'change' && known) {
              await put([{ ...known, status, description }]);
            } else {
              const asked: Partial<CacheQuery> = {
                order: step.order,
                limit: step.limit,
                ...(isWithin.text && { text: description }),
                ...(isWithin.direction && { direction }),
                ...(isWithin.filter && { filter: status }),
                ...(isWithin.since && { sinceMs: at % 700 }),
                ...(isWithin.until && { untilMs: at % 900 }),
              };
              const fitting = [...cached.values()].filter(
                (one) =>
                  makers.get(one.index) === (maker ?? ONE) &&
                  (!isWithin.text || one.description === description) &&
                  (!isWithin.direction || one.direction === direction) &&
                  (!isWithin.filter || one.status === status) &&
                  (!isWithin.since || one.createdAtMs >= at % 700) &&
                  (!isWithin.until || one.createdAtMs < at % 900),
              );
              const all = indexesOf(fitting);
              const wanted = (step.order === 'asc' ? all : all.toReversed()).slice(0, step.limit);
              expect([asked, await find(maker ?? ONE, asked)]).toEqual([asked, wanted]);
            }
          }
        }),
        { numRuns: Math.ceil(rounds(25, 100) * runsShare) },
      );
    });
  });
}
