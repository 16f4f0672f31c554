import { beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DIRECTIONS, encodePayment, type Payment, RAILS } from '../../../src/model/payment.ts';
import { searchWordsOf, soughtWords } from '../../../src/model/payment-search.ts';
import type { CacheQuery, Store } from '../../../src/store/ports.ts';
import { rounds } from '../../support/rounds.ts';
import { sampleDone, samplePayment } from '../../support/sample-payment.ts';
import { WALLET } from '../../support/store-steps.ts';

const OTHER = 'cd'.repeat(32);
/** More than are compared one by one, and more bundles than are read at once. */
const MANY = 5300;
const EVERYTHING: CacheQuery = {
  filter: 'all',
  order: 'desc',
  limit: 1000,
  after: null,
  direction: null,
  rail: null,
  sinceMs: null,
  untilMs: null,
  externalId: null,
};

/** A text of words that are no digits of a hash. */
const SOME_WORDS = fc
  .array(fc.constantFrom('zimt', 'Zimtstern', 'NELKE', 'anis', 'nel', '1,781', 'größe', 'x'), {
    minLength: 1,
    maxLength: 2,
  })
  .map((words) => words.join(' '));
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
/** What is done to a cache, or asked of it: only what a kind needs of the rest is used. */
const SEARCH_STEP = fc.tuple(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('add' as const, 'addMany' as const, 'change' as const),
    },
    { weight: 6, arbitrary: fc.constant('ask' as const) },
    { weight: 1, arbitrary: fc.constant('clear' as const) },
  ),
  fc.nat(),
  fc.array(
    fc.record({
      createdAtMs: fc.oneof(
        fc.integer({ min: 1_000_000, max: 1_000_009 }),
        fc.integer({ min: 1_000_000, max: 4_000_000_000 }),
      ),
      description: fc.option(SOME_WORDS),
      personalNote: fc.option(SOME_WORDS),
      externalId: fc.option(fc.constantFrom('a', 'b')),
      amountMsat: fc.constantFrom(null, 1_781_000n),
      status: fc.constantFrom('pending' as const, 'completed' as const, 'failed' as const),
      direction: fc.constantFrom(...DIRECTIONS),
      rail: fc.constantFrom(...RAILS),
    }),
    { minLength: 1, maxLength: 20 },
  ),
  fc.record({
    text: SOME_WORDS,
    filter: fc.constantFrom(
      'all' as const,
      'all' as const,
      'all' as const,
      'all' as const,
      'pending' as const,
      'completed' as const,
      'failed' as const,
      'finalized' as const,
    ),
    order: fc.constantFrom('asc' as const, 'desc' as const),
    limit: fc.integer({ min: 1, max: 6 }),
    direction: rarely(fc.constantFrom(...DIRECTIONS)),
    rail: rarely(fc.constantFrom(...RAILS)),
    externalId: rarely(fc.constantFrom('a', 'b')),
    sinceMs: rarely(fc.constantFrom(1_000_005, 1_000_000_000)),
    untilMs: rarely(fc.constantFrom(1_000_008, 2_500_000_000)),
    after: rarely(fc.constant(true)),
    idPart: rarely(fc.constantFrom('first' as const, 'last' as const)),
  }),
);

/** The payments that a list is to have, found by comparing each. */
function expected(payments: Iterable<Payment>, query: CacheQuery): string[] {
  const { text = '', order, limit, after, filter, sinceMs, untilMs, direction, rail } = query;
  const { idPart = '', externalId } = query;
  const sought = soughtWords(text);
  const found = [...payments].filter((payment) => {
    const { index } = payment;
    const isOver = payment.status !== 'pending';
    if (filter !== 'all' && (filter === 'finalized' ? !isOver : payment.status !== filter))
      return false;
    if (direction !== null && payment.direction !== direction) return false;
    if (rail !== null && payment.rail !== rail) return false;
    if (externalId !== null && payment.externalId !== externalId) return false;
    if (!index.slice(-64).startsWith(idPart) && !index.endsWith(idPart)) return false;
    if (sinceMs !== null && payment.createdAtMs < sinceMs) return false;
    if (untilMs !== null && payment.createdAtMs >= untilMs) return false;
    if (after !== null && (order === 'asc' ? index <= after : index >= after)) return false;
    const words = ` ${searchWordsOf(payment)}`;
    return sought.every((word) => word.some((part) => words.includes(` ${part}`)));
  });
  const indexes = found.map(({ index }) => index as string).toSorted();
  return (order === 'asc' ? indexes : indexes.toReversed()).slice(0, limit);
}

/** Finding cached payments by their words: {@link PaymentCache.list}. */
export function searchContract(open: () => Promise<Store>, runsShare: number): void {
  describe('finding payments by words', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const apply = (payments: readonly Payment[], wallet = WALLET) =>
      store.cache.apply(wallet, payments, null);
    const find = async (text: string, change: Partial<CacheQuery> = {}, wallet = WALLET) => {
      const { json } = await store.cache.list(wallet, { ...EVERYTHING, ...change, text });
      return json.map((one) => (JSON.parse(one) as { index: string }).index);
    };
    /** Payments newer than those of a test, of which none has its words. */
    const fill = async (from: number) => {
      for (let at = 0; at < MANY; at += 500) {
        const numbers = Array.from(
          { length: Math.min(500, MANY - at) },
          (_, one) => from + at + one,
        );
        await apply(numbers.map((number) => samplePayment(number, { amountMsat: null })));
      }
    };

    for (const [where, isFar] of [
      ['among the newest', false],
      ['behind many', true],
    ] as const) {
      test(`finds every word, of this wallet, with other filters and by pages, ${where}`, async () => {
        const described = (number: number, description: string, change: Partial<Payment> = {}) =>
          samplePayment(number, { amountMsat: null, description, ...change });
        const payments = [
          described(1, 'Table 13, café'),
          described(2, 'table 14 cafe', { personalNote: 'for "13" people \u0000 %_\\\'' }),
          sampleDone(3, { description: 'Table 13', amountMsat: 1_781_000n, createdAtMs: 2 }),
          described(4, 'Stable 13'),
          described(5, 'TABLE 13', { createdAtMs: 2 }),
        ];
        const [one, two, three, , five] = payments.map(({ index }) => index);
        await apply(payments);
        await apply([samplePayment(6, { description: 'Table 13' })], OTHER);
        if (isFar) await fill(10);
        const tied = [two, three, five].toSorted().toReversed();
        expect(await find('table 13')).toEqual([...tied, one] as string[]);
        expect(await find('13 TABLE', { filter: 'completed' })).toEqual([three] as string[]);
        expect(await find('1,781')).toEqual([three] as string[]);
        expect(await find(`${three?.slice(-64, -50)}`)).toEqual([three] as string[]);
        expect(await find(`${three?.slice(-60)}`)).toEqual([]);
        expect(await find('cafe 13')).toEqual([two, one] as string[]);
        expect(await find('café 15')).toEqual([]);
        expect(await find('13', { sinceMs: 2, untilMs: 3 })).toEqual(tied as string[]);
        for (const order of ['asc', 'desc'] as const) {
          const read: string[] = [];
          for (let after: CacheQuery['after'] = null; ; ) {
            const page = await store.cache.list(WALLET, {
              ...EVERYTHING,
              text: 'table 13',
              order,
              after,
              limit: 1,
            });
            read.push(...page.json.map((json) => (JSON.parse(json) as { index: string }).index));
            if (page.nextIndex === null) break;
            after = page.nextIndex;
          }
          expect(read).toEqual(expected(payments, { ...EVERYTHING, order, text: 'table 13' }));
        }
      });

      test(`finds what a payment says now, and nothing that was cleared, ${where}`, async () => {
        const before = samplePayment(1, { personalNote: 'rent of may' });
        const after = { ...before, personalNote: 'rent of june' };
        await apply([before]);
        if (isFar) await fill(10);
        await store.cache.refresh(WALLET, after);
        expect(await find('may')).toEqual([]);
        expect(await find('rent june')).toEqual([before.index]);
        await apply([before]);
        expect(await find('may')).toEqual([before.index]);
        await store.cache.clear(WALLET);
        if (isFar) await fill(10);
        expect(await find('rent')).toEqual([]);
        await apply([after]);
        expect(await find('rent')).toEqual([before.index]);
      });
    }

    test('goes on behind entries of the index that do not fit, from both ends', async () => {
      const [first, last] = [10_001, 14_500];
      const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at);
      const change = { description: 'Zimt', amountMsat: null };
      const made = numbers.map((number) =>
        // As many as are read at first, on each side of those that fit.
        number > 12_000 && number <= 12_500
          ? sampleDone(number, change)
          : samplePayment(number, change),
      );
      await fill(1);
      for (let at = 0; at < made.length; at += 500) await apply(made.slice(at, at + 500));
      await fill(20_000);
      const near = [samplePayment(1, change), samplePayment(30_000, change)] as const;
      for (const order of ['asc', 'desc'] as const) {
        const query = { ...EVERYTHING, order, limit: 10, text: 'zimt' };
        for (const after of [null, samplePayment(order === 'asc' ? 5 : 25_295).index]) {
          const fits = { ...query, after, filter: 'completed' } as const;
          expect(await find('zimt', fits)).toEqual(expected(made, fits));
        }
      }
      await apply(near);
      for (const [order, one] of [
        ['asc', near[0]],
        ['desc', near[1]],
      ] as const) {
        expect(await find('zimt', { order, limit: 1 })).toEqual([one.index]);
      }
    });

    test('finds what comparing each payment finds, whatever they say and is sought', async () => {
      const word = fc.oneof(
        fc.constantFrom(
          'table',
          'Café',
          '1,781',
          '13',
          'ab12',
          'TÄG',
          '特盛',
          '☕',
          "o'x",
          '"',
          '*',
          '-',
          '2.5',
        ),
        fc.string({ unit: 'binary', maxLength: 5 }),
      );
      const text = fc.array(word, { maxLength: 3 }).map((words) => words.join(' '));
      const given = fc.array(
        fc.record({
          createdAtMs: fc.integer({ min: 10_000, max: 10_040 }),
          description: fc.option(text),
          personalNote: fc.option(text),
          amountMsat: fc.option(fc.bigInt({ min: 0n, max: 2_000_000n })),
        }),
        { maxLength: 6 },
      );
      await fill(1);
      await fill(20_000);
      const payments = new Map<string, Payment>();
      let number = 50_000;
      await fc.assert(
        fc.asyncProperty(
          given,
          fc.oneof(text, word),
          fc.constantFrom('asc' as const, 'desc' as const),
          fc.integer({ min: 1, max: 4 }),
          async (changes, sought, order, limit) => {
            const added = changes.map((change) => samplePayment(++number, change));
            for (const payment of added) payments.set(payment.index, payment);
            await apply(added);
            const some = added.at(0)?.index.slice(-64, -56) ?? 'ab';
            for (const one of [sought, `${sought} ${some}`, some.slice(0, 2)]) {
              if (soughtWords(one).length === 0) continue;
              const far = { ...EVERYTHING, order, limit, text: one };
              const query = { ...far, sinceMs: 10_000, untilMs: 11_000 };
              // Fillers have no words but their ids.
              const isOfId = soughtWords(one).every((parts) => parts.length > 1);
              const wanted = expected(payments.values(), query);
              expect(await find(one, query)).toEqual(wanted);
              if (!isOfId) expect(await find(one, far)).toEqual(wanted);
            }
          },
        ),
        { numRuns: Math.ceil(rounds(15, 60) * runsShare) },
      );
    });

    for (const [where, isFar] of [
      ['also where some is cleared', false],
      ['behind many', true],
    ] as const) {
      test(`finds what comparing each payment finds, whatever was stored, changed and asked before, ${where}`, async () => {
        if (isFar) {
          await fill(1);
          await fill(10_000_000_000);
        }
        const payments = new Map<string, Payment>();
        const put = async (some: readonly Payment[]) => {
          for (const payment of some) payments.set(payment.index, payment);
          await apply(some);
        };
        let number = 50_000;
        await fc.assert(
          fc.asyncProperty(fc.array(SEARCH_STEP, { maxLength: 30 }), async (steps) => {
            for (const [kind, at, changes, query] of steps) {
              const known = [...payments.values()][at % Math.max(payments.size, 1)];
              if (kind === 'add') {
                await put(changes.map((change) => samplePayment(++number, change)));
              } else if (kind === 'addMany') {
                // As many as are bundled at once.
                const many = Array.from({ length: Math.ceil(60 / changes.length) }, () => changes);
                await put(many.flat().map((change) => samplePayment(++number, change)));
              } else if (kind === 'clear' && !isFar) {
                await store.cache.clear(WALLET);
                payments.clear();
              } else if (kind === 'change' && known) {
                const { personalNote, status } = changes[0] ?? known;
                await put([{ ...known, personalNote, status }]);
              } else {
                const index = known?.index ?? samplePayment(1).index;
                const asked: CacheQuery = {
                  ...EVERYTHING,
                  ...query,
                  after: query.after ? index : null,
                  idPart:
                    query.idPart === null
                      ? undefined
                      : { first: index.slice(-64, -59), last: index.slice(-5) }[query.idPart],
                };
                expect([asked, await find(query.text, asked)]).toEqual([
                  asked,
                  expected(payments.values(), asked),
                ]);
              }
            }
          }),
          { numRuns: Math.ceil((isFar ? rounds(10, 40) : rounds(50, 200)) * runsShare) },
        );
      });
    }

    test('leaves nothing out of many that fit, also of one millisecond, and lists nothing twice', async () => {
      const change = { description: 'Zimt', amountMsat: null };
      const spread = Array.from({ length: 1700 }, (_, at) => samplePayment(50_000 + at, change));
      const tied = Array.from({ length: MANY + 50 }, (_, at) =>
        samplePayment(200_000 + at, {
          createdAtMs: 60_000,
          description: at % 100 === 0 ? 'Nelke' : 'Anis',
        }),
      );
      // Of some rows of a statement, some are there already.
      for (const many of [spread.slice(0, 40), spread, tied]) await apply(many);
      await fill(1);
      await fill(100_000);
      for (const order of ['asc', 'desc'] as const) {
        const query = { ...EVERYTHING, order, limit: 2000, text: 'zimt' };
        expect(await find('zimt', query)).toEqual(expected(spread, query));
        const after = order === 'asc' ? { sinceMs: 60_000 } : { untilMs: 60_001 };
        const nelke = { ...query, ...after, text: 'nelke' };
        expect(await find('nelke', nelke)).toEqual(expected(tied, nelke));
      }
    });

    test('goes on over years, also where nothing was paid for months, and between two times', async () => {
      const yearMs = 31_557_600_000;
      const years = Array.from({ length: 40 }, (_, at) => yearMs + Math.floor((at * yearMs) / 9));
      const made = years.flatMap((createdAtMs, at) => [
        sampleDone(100_000 + at, { description: 'Safran', amountMsat: null, createdAtMs }),
        samplePayment(200_000 + at, { description: 'safran fein', createdAtMs }),
        samplePayment(300_000 + at, { description: 'fein', createdAtMs: createdAtMs + 1 }),
      ]);
      await apply(made.toReversed());
      await apply(made.slice(0, 30), OTHER);
      await fill(1);
      await fill(10 * yearMs);
      const [sinceMs, untilMs] = [years[9] as number, years[31] as number];
      let [turns, isOver] = [0, false];
      const count = () => void (isOver || setImmediate(count, turns++));
      count();
      expect(await find('safran zimt', { order: 'asc' })).toEqual([]);
      isOver = true;
      // What else is asked of the sidecar meanwhile is served.
      expect(turns).toBeGreaterThan(1);
      for (const order of ['asc', 'desc'] as const) {
        for (const change of [
          {},
          { sinceMs },
          { untilMs },
          { sinceMs, untilMs },
          { limit: 7, after: made[45]?.index ?? null },
          { filter: 'completed', sinceMs: years[20] as number },
        ] as const) {
          for (const text of ['safran', 'fein safr', 'safran zimt']) {
            const query = { ...EVERYTHING, order, ...change, text };
            expect([query, await find(text, query)]).toEqual([query, expected(made, query)]);
          }
        }
      }
    });

    test('finds payments of a page by what they are now, and by either end of their ids', async () => {
      const change = { description: 'Zimt', amountMsat: null };
      const page = Array.from({ length: 60 }, (_, at) => samplePayment(at + 1, change));
      await apply(page);
      const ended = page
        .slice(20, 30)
        .map((payment) => ({ ...payment, status: 'failed' }) as const);
      expect(await find('zimt', { filter: 'finalized' })).toEqual([]);
      await apply(ended);
      const found = await find('zimt', { filter: 'finalized', order: 'asc' });
      expect(found).toEqual(ended.map(({ index }) => index as string));
      for (const { index } of page.slice(0, 3)) {
        for (const idPart of [index.slice(-64, -58), index.slice(-6)]) {
          expect(await find('zimt', { idPart })).toEqual([index as string]);
          const { json } = await store.cache.list(WALLET, { ...EVERYTHING, idPart });
          expect(json).toHaveLength(1);
        }
      }
    });

    test('keeps the JSON of a found payment as it is', async () => {
      const payment = samplePayment(1, { message: 'Grüße \u0000 ☃' });
      await apply([payment]);
      const { json } = await store.cache.list(WALLET, { ...EVERYTHING, text: 'grusse' });
      expect(json).toEqual([JSON.stringify(encodePayment(payment))]);
    });
  });
}
