import { expect, test } from 'bun:test';
import { rowObservations } from '../../../src/nodes/ldk/translate.ts';
import type { LdkRow } from '../../../src/nodes/ldk/words.ts';
import { ldkRow } from './rows.ts';

const told = (change: Partial<LdkRow>) => rowObservations(ldkRow(change));

test('an attempt is told from when LDK took it, and so is its end', () => {
  const ended = { state: 'failed', ended_at: 1_764_000_001_000 } as const;
  expect(told({ state: 'asked' })).toEqual([]);
  expect(told({})).toMatchObject([{ payment: { status: 'pending', index: ldkRow().ref } }]);
  // It was never told of, and the sidecar asks what became of it.
  expect(told({ ...ended, reason: 'never sent' })).toEqual([]);
  // A crash made LDK forget what it had taken: who was told that it is pending must be told that it is not.
  expect(told({ ...ended, reason: 'not_sent' })).toMatchObject([
    {
      attempt: 1,
      payment: { status: 'failed', statusMsg: 'not sent', finalizedAtMs: 1_764_000_001_000 },
    },
  ]);
});

test('a small payment whose channel was closed by force stays pending', () => {
  const lost = { state: 'failed', reason: 'channel_closed', ended_at: 1_764_000_001_000 } as const;
  expect(told(lost)).toMatchObject([{ payment: { status: 'pending', finalizedAtMs: null } }]);
});

test('a payment of an offer has no hash before its invoice, and what arrives on one names it', () => {
  const offer = { kind: 'offer', offer_id: 'cd'.repeat(32), message: 'thank you' } as const;
  const fields = { rail: 'offer', offerId: offer.offer_id, message: 'thank you' } as const;
  const ref = `0000001764000000000-fs_${'ef'.repeat(32)}`;
  const sent = told({ ...offer, hash: null, ref });
  expect(sent).toMatchObject([{ payment: { ...fields, index: ref, hash: null } }]);
  const { hash } = ldkRow();
  const received = { direction: 'in', state: 'completed', ref: null, description: 'tea' } as const;
  expect(told({ ...offer, ...received })).toMatchObject([
    { payment: { ...fields, index: `0000001764000000000-fr_${hash}`, description: 'tea' } },
  ]);
});
