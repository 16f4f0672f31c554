import { expect, test } from 'bun:test';
import { deliveryDraft, deliveryRule } from '../../src/webhooks/draft.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';

const PAYMENT = sampleDone(1, { finalizedAtMs: 1_700_000_000_123 });

test("timestamp is the payment's finalized_at, whenever the delivery is written", () => {
  const drafts = [1_700_000_000_200, 1_800_000_000_000].map((nowMs) =>
    deliveryDraft(PAYMENT, 'ab'.repeat(32), nowMs),
  );
  expect(JSON.parse(drafts[0]?.body ?? '')).toMatchObject({
    finalized_at: 1_700_000_000_123,
    timestamp: '2023-11-14T22:13:20.123Z',
  });
  expect(drafts.map(({ body }) => body)).toEqual(Array(2).fill(drafts[0]?.body));
  expect(drafts.map(({ createdAtMs }) => createdAtMs)).toEqual([
    1_700_000_000_200, 1_800_000_000_000,
  ]);
});

test('a held payment has a webhook of its own, with another id than its end, and the time it arrived', () => {
  const userPk = 'ab'.repeat(32);
  const held = samplePayment(1, {
    direction: 'inbound',
    statusMsg: 'held',
    updatedAtMs: 1_700_000_000_123,
  });
  const draft = deliveryDraft(held, userPk, 1_800_000_000_000);
  expect(JSON.parse(draft.body)).toMatchObject({
    type: 'payment.held',
    status: 'pending',
    status_msg: 'held',
    timestamp: '2023-11-14T22:13:20.123Z',
  });
  const end = deliveryDraft(PAYMENT, userPk, 1_800_000_000_000);
  expect(JSON.parse(end.body).type).toBe('payment.finalized');
  expect(end.id).not.toBe(draft.id);
  expect(deliveryDraft(held, userPk, 1).id).toBe(draft.id);
});

test('the configured receiver gets the events that it was started with, endpoints those that they were made with', () => {
  const held = samplePayment(1, { direction: 'inbound', statusMsg: 'held' });
  const endpoints = [
    { id: 'ep_all', events: ['payment.finalized', 'payment.held'], expiresAtMs: null },
    { id: 'ep_end', events: ['payment.finalized'], expiresAtMs: null },
  ] as const;
  const clock = { now: () => 1_800_000_000_000 };
  const heardBy = (configured: Parameters<typeof deliveryRule>[0]['configured']) =>
    [PAYMENT, held].map(
      (payment) => deliveryRule({ configured, clock })(payment, 'ab', endpoints)?.endpoints,
    );
  expect(heardBy(null)).toEqual([['ep_all', 'ep_end'], ['ep_all']]);
  expect(heardBy(['payment.finalized'])).toEqual([['configured', 'ep_all', 'ep_end'], ['ep_all']]);
  expect(heardBy(['payment.finalized', 'payment.held'])).toEqual([
    ['configured', 'ep_all', 'ep_end'],
    ['configured', 'ep_all'],
  ]);
});
