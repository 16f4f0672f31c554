import { expect } from 'bun:test';
import { openLog } from '../../../src/lib/log.ts';
import { idOf } from '../../../src/model/payment.ts';
import { openSqliteStore } from '../../../src/store/sqlite/index.ts';
import { observationRules } from '../../../src/wallet/follow/observe.ts';
import { rejection } from '../../support/rejection.ts';
import { until } from '../../support/until.ts';
import type { Rules } from './kind.ts';
import { ended, follow, invoiceCommand, known, payCommand } from './steps.ts';

export const BROKEN_FEED_THROWS = 'a feed whose connection breaks throws';

/** The feed of updates: what was, then what comes, with no gap. */
export function updateRules({ rule, group, wallet }: Rules): void {
  rule(
    'a feed from the beginning gives what was before it, says when that is all, and then what comes',
    async (node, outside) => {
      const before = await node.createInvoice(invoiceCommand(node));
      await outside.pays(before.invoice);
      const feed = follow(node);
      await until(feed.isCaughtUp, 'the feed has caught up');
      const last = feed.batches.findIndex(({ caughtUp }) => caughtUp);
      const old = feed.batches.slice(0, last + 1).flatMap(({ observations }) => observations);
      expect(old.map(({ payment }) => [payment.hash, payment.status])).toContainEqual([
        before.paymentHash,
        'completed',
      ]);
      const after = await node.createInvoice(invoiceCommand(node));
      await outside.pays(after.invoice);
      await feed.shows(after.paymentHash, 'completed');
      const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior: 'hold' });
      known(await node.payInvoice(payCommand(node, invoice)));
      await feed.shows(hash, 'pending');
      await outside.decide(hash, false);
      await feed.shows(hash, 'failed');
      await feed.end();
    },
  );

  rule('what happens while a feed opens is in it', async (node, outside) => {
    const made = [];
    for (let count = 0; count < 20; count++) {
      made.push(await node.createInvoice(invoiceCommand(node, { amountMsat: 10_000n })));
    }
    const feed = follow(node);
    for (const { invoice } of made) await outside.pays(invoice);
    for (const { paymentHash } of made) await feed.shows(paymentHash, 'completed');
    await feed.end();
  });

  rule(
    'a feed that is opened again at its cursor gives what happened in between',
    async (node, outside) => {
      const first = follow(node);
      await until(first.isCaughtUp, 'the feed has caught up');
      const made = await node.createInvoice(invoiceCommand(node));
      await first.end();
      await outside.pays(made.invoice);
      const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior: 'settle' });
      known(await node.payInvoice(payCommand(node, invoice)));
      const again = follow(node, first.cursor(), [made.payment]);
      await again.shows(made.paymentHash, 'completed');
      await again.shows(hash, 'completed');
      await until(again.isCaughtUp, 'the feed has caught up');
      await again.end();
    },
  );

  rule('an invoice that ends unpaid is in the feed, canceled or expired', async (node, outside) => {
    const canceled = await node.createInvoice(invoiceCommand(node));
    const expiring = await node.createInvoice(invoiceCommand(node, { expirationSecs: 60 }));
    const feed = follow(node, null, [canceled.payment, expiring.payment]);
    await until(feed.isCaughtUp, 'the feed has caught up');
    await node.cancelInvoice(canceled.payment.index);
    await outside.advanceClock(3600);
    const seen = async (hash: string) => (await feed.shows(hash, 'failed')).payment.statusMsg;
    expect(await seen(canceled.paymentHash)).toBe('canceled');
    await feed.end();
    const again = follow(node, null, [expiring.payment]);
    const end = await again.shows(expiring.paymentHash, 'failed');
    expect(end.payment.statusMsg).toBe('expired');
    await again.end();
  });

  rule(
    'what the feed repeats changes nothing, and no payment leaves its end',
    async (node, outside) => {
      const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior: 'settle' });
      known(await node.payInvoice(payCommand(node, invoice)));
      await ended(node, hash);
      const feeds = [follow(node), follow(node)];
      for (const feed of feeds) {
        await feed.shows(hash, 'completed');
        await until(feed.isCaughtUp, 'the feed has caught up');
        await feed.end();
      }
      const store = openSqliteStore(':memory:');
      const rules = observationRules({
        log: openLog({ level: 'silent', format: 'text', write: () => undefined }),
        deliver: () => null,
      });
      const apply = (observations: (typeof feeds)[0]['observations']) =>
        store.observations.apply(
          wallet().userPk,
          { observations, cursor: null, journaled: node.history === undefined, nowMs: 1 },
          rules,
        );
      const [first, second] = feeds.map(({ observations }) => observations);
      if (first === undefined || second === undefined) throw new Error('no feeds');
      await apply(first);
      if (node.history === undefined) {
        expect((await apply(second)).changed).toEqual([]);
        expect((await apply(first)).changed).toEqual([]);
      }
      const ends = (seen: typeof first) =>
        new Map(
          seen.map(({ payment, attempt }) => [`${idOf(payment)} ${attempt}`, payment.status]),
        );
      expect(ends(second)).toEqual(ends(first));
      await store.close();
    },
  );

  rule('a feed ends when it is told to, and another goes on', async (node, outside) => {
    const [one, other] = [follow(node), follow(node)];
    await until(() => one.isCaughtUp() && other.isCaughtUp(), 'both feeds have caught up');
    await one.end();
    const made = await node.createInvoice(invoiceCommand(node));
    await outside.pays(made.invoice);
    await other.shows(made.paymentHash, 'completed');
    await other.end();
  });

  rule(BROKEN_FEED_THROWS, async (node, outside) => {
    const feed = follow(node);
    await until(feed.isCaughtUp, 'the feed has caught up');
    await outside.cut?.away();
    expect(await feed.over).toBeInstanceOf(Error);
    await outside.cut?.back();
    const again = follow(node, feed.cursor());
    await until(again.isCaughtUp, 'the feed has caught up');
    await again.end();
  });

  group('history', (historyRule) => {
    historyRule(
      'updates are kept in one strict order, each payment in its newest state',
      async (history, node, outside) => {
        const tip = await history.tip();
        const [first, second] = [
          await node.createInvoice(invoiceCommand(node)),
          await node.createInvoice(invoiceCommand(node)),
        ];
        await outside.pays(first.invoice);
        const after = await history.updatedAfter(tip, 100);
        expect(after.map(({ hash, status }) => [hash, status])).toEqual([
          [second.paymentHash, 'pending'],
          [first.paymentHash, 'completed'],
        ]);
        const [earlier, later] = after.map(({ updatedAtMs }) => updatedAtMs);
        expect(later).toBeGreaterThan(earlier ?? Number.NaN);
        expect(await history.updatedAfter(tip, 1)).toEqual(after.slice(0, 1));
        expect(await history.updatedAfter(await history.tip(), 100)).toEqual([]);
      },
    );
  });

  group('notes', (noteRule) => {
    noteRule(
      'a note is set and cleared, and is an update; what is not there has none',
      async (notes, node) => {
        const { payment, paymentHash } = await node.createInvoice(invoiceCommand(node));
        const feed = follow(node);
        await until(feed.isCaughtUp, 'the feed has caught up');
        expect((await notes.setPersonalNote(payment.index, 'mine')).personalNote).toBe('mine');
        await until(
          () =>
            feed.observations.some(
              ({ payment: seen }) => seen.hash === paymentHash && seen.personalNote === 'mine',
            ),
          'the feed showed the note',
        );
        await feed.end();
        expect((await notes.setPersonalNote(payment.index, null)).personalNote).toBeNull();
        expect((await node.payment(payment.index))?.payment.personalNote).toBeNull();
        const { index } = (await node.createInvoice(invoiceCommand(node))).payment;
        const missing = index.replace(/_.*/, `_${'0'.repeat(64)}`) as typeof index;
        expect(await rejection(notes.setPersonalNote(missing, 'x'))).toMatchObject({
          kind: 'notFound',
        });
      },
    );
  });
}
