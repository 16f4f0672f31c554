import { beforeEach, describe, expect, test } from 'bun:test';
import { encodePayment, type Payment, updatedIndexOf } from '../../../src/model/payment.ts';
import type { CacheQuery, Completion, Store } from '../../../src/store/ports.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { WALLET } from '../../support/store-steps.ts';

const OTHER = 'cd'.repeat(32);
const EVERYTHING: CacheQuery = {
  filter: 'all',
  order: 'asc',
  limit: 100,
  after: null,
  direction: null,
  rail: null,
  sinceMs: null,
  untilMs: null,
  externalId: null,
};

/** The payment cache of the contract: {@link PaymentCache}. */
export function cacheContract(open: () => Promise<Store>): void {
  describe('the cache', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const apply = (payments: readonly Payment[], cursor: Payment | null = null, wallet = WALLET) =>
      store.cache.apply(wallet, payments, cursor && updatedIndexOf(cursor));
    const list = async (change: Partial<CacheQuery> = {}, wallet = WALLET) => {
      const { json, nextIndex } = await store.cache.list(wallet, { ...EVERYTHING, ...change });
      const created = json.map((text) => (JSON.parse(text) as { created_at: number }).created_at);
      return { created, nextIndex };
    };

    test('counts what was not there and what changed, and keeps the response JSON of each', async () => {
      expect(await apply([samplePayment(1), samplePayment(2)])).toEqual({
        numNew: 2,
        numUpdated: 0,
      });
      expect(await apply([samplePayment(2), sampleDone(1), samplePayment(3)])).toEqual({
        numNew: 1,
        numUpdated: 1,
      });
      expect(await store.cache.get(WALLET, samplePayment(1).index)).toEqual({
        json: JSON.stringify(encodePayment(sampleDone(1))),
        final: true,
      });
      expect(await store.cache.get(WALLET, samplePayment(2).index)).toMatchObject({ final: false });
      expect(await store.cache.get(WALLET, samplePayment(9).index)).toBeNull();
    });

    test('keeps the price of a payment', async () => {
      const price = { currency: 'EUR', amount: '12.50' };
      const rate = { rate: '58123.5', rateAtMs: 8, rateSource: 'kraken, coinbase' };
      await apply([samplePayment(1, { price: { ...price, ...rate } })]);
      const { json } = await store.cache.list(WALLET, EVERYTHING);
      const told = { price, rate: rate.rate, rate_at: 8, rate_source: rate.rateSource };
      expect(json.map((text) => JSON.parse(text))).toMatchObject([told]);
    });

    test('finds the payments with an id of the caller, exactly as it was given', async () => {
      const ids = ['order "17" \\ ☕', 'order "17" \\ ☕', 'ORDER "17" \\ ☕', 'null', null];
      const named = ids.map((externalId, at) =>
        // PostgreSQL holds no NUL in a text, and reads none in JSON either.
        samplePayment(at + 1, { externalId, message: '\u0000 "external_id":"x"' }),
      );
      await apply(named);
      await apply([sampleDone(9, { externalId: 'x' })], null, OTHER);
      const find = (externalId: string, change: Partial<CacheQuery> = {}) =>
        list({ externalId, ...change });
      expect(await find('order "17" \\ ☕')).toEqual({ created: [1, 2], nextIndex: null });
      expect(await find('order "17" \\ ☕', { order: 'desc', limit: 1 })).toEqual({
        created: [2],
        nextIndex: samplePayment(2).index,
      });
      expect((await find('null')).created).toEqual([4]);
      expect((await find('x')).created).toEqual([]);
      expect((await find('null', { filter: 'completed' })).created).toEqual([]);
      await apply([sampleDone(4, { externalId: 'null' })]);
      expect((await find('null', { filter: 'completed' })).created).toEqual([4]);
    });

    test('reads completed payments in the order of their completion, page after page', async () => {
      const done = (number: number, finalizedAtMs: number, change: Partial<Payment> = {}) =>
        sampleDone(number, { finalizedAtMs, ...change });
      const message = '"finalized_at":1,\u0000 "status":"completed"';
      await apply([done(1, 50, { message }), done(2, 40), sampleFailed(3), done(4, 40)]);
      await apply([samplePayment(5, { finalizedAtMs: null, message }), done(6, 1e15)]);
      await apply([done(7, 45)], null, OTHER);
      const read = async (after: Completion | null, limit = 100) => {
        const { json, last } = await store.cache.completed(WALLET, after, limit);
        return { created: json.map((text) => JSON.parse(text).created_at), last };
      };
      const at = (number: number, atMs: number) => ({ atMs, index: done(number, atMs).index });
      expect(await read(null)).toEqual({ created: [2, 4, 1, 6], last: at(6, 1e15) });
      expect(await read(null, 1)).toEqual({ created: [2], last: at(2, 40) });
      expect(await read(at(2, 40), 2)).toEqual({ created: [4, 1], last: at(1, 50) });
      expect(await read(at(6, 1e15))).toEqual({ created: [], last: null });
      await apply([done(5, 45)]);
      expect(await read(at(2, 40), 2)).toEqual({ created: [4, 5], last: at(5, 45) });
      await store.cache.clear(WALLET);
      expect(await read(null)).toEqual({ created: [], last: null });
    });

    test('of a payment that comes twice in a page the later one stays, and each change counts', async () => {
      expect(await apply([samplePayment(1), samplePayment(2), sampleDone(1)])).toEqual({
        numNew: 2,
        numUpdated: 1,
      });
      expect(await apply([samplePayment(2), sampleFailed(2), sampleFailed(2)])).toEqual({
        numNew: 0,
        numUpdated: 1,
      });
      expect((await list({ filter: 'completed' })).created).toEqual([1]);
      expect((await list({ filter: 'failed' })).created).toEqual([2]);
    });

    test('of a long page each payment is stored and counted, wherever in the page it stands', async () => {
      const numbers = Array.from({ length: 64 }, (_, at) => at + 1);
      const personalNote = 'changed \u0000 ☃';
      for (const at of [0, 1, 24, 25, 49, 50, 63]) {
        const number = numbers[at] as number;
        await store.cache.clear(WALLET);
        await apply([samplePayment(number), samplePayment(99)]);
        const page = numbers.map((one) => samplePayment(one));
        expect(await apply(page)).toEqual({ numNew: 63, numUpdated: 0 });
        const changed = page.with(at, samplePayment(number, { personalNote }));
        expect(await apply(changed)).toEqual({ numNew: 0, numUpdated: 1 });
        const { json } = await store.cache.list(WALLET, EVERYTHING);
        expect(json).toEqual(
          [...changed, samplePayment(99)].map((payment) => JSON.stringify(encodePayment(payment))),
        );
      }
    });

    test('of a payment that comes often in a long page the last one stays', async () => {
      const page = Array.from({ length: 60 }, (_, at) => samplePayment(at + 1));
      const repeated = page.flatMap((payment) => [payment, sampleDone(7)]);
      expect(await apply(repeated)).toEqual({ numNew: 60, numUpdated: 2 });
      expect((await list({ filter: 'completed' })).created).toEqual([7]);
      expect(await apply(repeated.toReversed())).toEqual({ numNew: 0, numUpdated: 2 });
      expect((await list({ filter: 'completed' })).created).toEqual([7]);
    });

    test('keeps every character of a payment', async () => {
      const personalNote = '{"a", \\ \'b\'}, NULL \u0000 \n ☃ 😀';
      const noted = samplePayment(1, { personalNote });
      await apply([noted, samplePayment(2)]);
      expect(await store.cache.get(WALLET, noted.index)).toMatchObject({
        json: JSON.stringify(encodePayment(noted)),
      });
    });

    test('the cursor never moves backwards', async () => {
      expect(await store.cache.cursor(WALLET)).toBeNull();
      await apply([], samplePayment(5));
      await apply([samplePayment(1)], samplePayment(3));
      await apply([samplePayment(2)]);
      expect(await store.cache.cursor(WALLET)).toBe(updatedIndexOf(samplePayment(5)));
    });

    test('lists by state, direction, rail and time of creation: the first bound inclusive, the second exclusive', async () => {
      await apply([
        samplePayment(1),
        sampleDone(2),
        sampleFailed(3),
        sampleDone(4, { direction: 'inbound' }),
        samplePayment(5, { rail: 'onchain' }),
      ]);
      const created = async (change: Partial<CacheQuery>) => (await list(change)).created;
      expect(await created({})).toEqual([1, 2, 3, 4, 5]);
      expect(await created({ filter: 'pending' })).toEqual([1, 5]);
      expect(await created({ filter: 'completed' })).toEqual([2, 4]);
      expect(await created({ filter: 'failed' })).toEqual([3]);
      expect(await created({ filter: 'finalized' })).toEqual([2, 3, 4]);
      expect(await created({ direction: 'inbound' })).toEqual([4]);
      expect(await created({ rail: 'onchain' })).toEqual([5]);
      expect(await created({ sinceMs: 2, untilMs: 4 })).toEqual([2, 3]);
      expect(await created({ filter: 'completed', direction: 'outbound', order: 'desc' })).toEqual([
        2,
      ]);
    });

    test('lists what waits for approval, whatever its texts and those of others say', async () => {
      const statusMsg = 'awaiting approval';
      const said = `"status_msg":"${statusMsg}"`;
      await apply([
        samplePayment(1, { statusMsg, message: 'say "what"\u0000' }),
        samplePayment(2, { personalNote: said, message: said, externalId: said }),
        samplePayment(3, { statusMsg, direction: 'inbound' }),
        sampleFailed(4, { statusMsg }),
        samplePayment(5, { statusMsg, rail: 'onchain' }),
      ]);
      expect((await list({ filter: 'awaiting' })).created).toEqual([1, 5]);
      expect((await list({ filter: 'awaiting', order: 'desc', limit: 1 })).created).toEqual([5]);
    });

    test('lists by the first or last characters of an id, behind its prefix', async () => {
      const payments = [1, 2, 3, 4].map((number) => samplePayment(number));
      await apply(payments);
      await apply([samplePayment(1)], null, OTHER);
      const [hex = '', ...others] = payments.map(({ index }) => index.slice(-64));
      const unlike = (at: (text: string) => string) => others.every((it) => at(it) !== at(hex));
      const [head, tail] = [hex.slice(0, 10), hex.slice(-10)];
      expect(unlike((it) => it.slice(0, 10)) && unlike((it) => it.slice(-10))).toBe(true);
      const created = async (change: Partial<CacheQuery>) => (await list(change)).created;
      for (const idPart of [head, tail, hex]) expect(await created({ idPart })).toEqual([1]);
      // Neither the middle of an id, nor its prefix or its time, names a payment.
      for (const idPart of [hex.slice(3, 23), `_${head}`, '0000000', `${head}0${head}`]) {
        expect(await created({ idPart })).toEqual([]);
      }
      expect(await created({ idPart: head, filter: 'completed' })).toEqual([]);
    });

    test('pages in both orders leave nothing out, and the last one says so', async () => {
      await apply([3, 1, 5, 2, 4].map((number) => samplePayment(number)));
      for (const order of ['asc', 'desc'] as const) {
        const read: number[] = [];
        let after: CacheQuery['after'] = null;
        for (const size of [2, 2, 1]) {
          const page = await list({ order, after, limit: 2 });
          expect(page.created).toHaveLength(size);
          read.push(...page.created);
          after = page.nextIndex;
        }
        expect(after).toBeNull();
        expect(read).toEqual(order === 'asc' ? [1, 2, 3, 4, 5] : [5, 4, 3, 2, 1]);
      }
      expect((await list({ limit: 5 })).nextIndex).toBeNull();
    });

    test('a refresh replaces what is cached and adds nothing', async () => {
      await apply([samplePayment(1)]);
      await store.cache.refresh(WALLET, samplePayment(1, { personalNote: 'mine' }));
      await store.cache.refresh(WALLET, samplePayment(2));
      const kept = await store.cache.get(WALLET, samplePayment(1).index);
      expect(kept?.json).toContain('"personal_note":"mine"');
      expect((await list()).created).toEqual([1]);
    });

    test('is emptied with its cursor, and no other wallet sees or loses anything', async () => {
      await apply([samplePayment(1)], samplePayment(1));
      await apply([samplePayment(2)], samplePayment(2), OTHER);
      expect((await list({}, OTHER)).created).toEqual([2]);
      await store.cache.clear(WALLET);
      expect((await list()).created).toEqual([]);
      expect(await store.cache.cursor(WALLET)).toBeNull();
      expect((await list({}, OTHER)).created).toEqual([2]);
      expect(await store.cache.cursor(OTHER)).toBe(updatedIndexOf(samplePayment(2)));
    });
  });
}
