import { expect, test } from 'bun:test';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { isOwnLabel, labelOf, SendLabels } from '../../../src/nodes/cln/words/labels.ts';

const HASH = 'ab'.repeat(32);
const INDEX = paymentIndex(1_800_000_000_001, paymentId('ln', HASH));
const ours = new SendLabels('aa'.repeat(16));
const theirs = new SendLabels('ab'.repeat(16));
const indexOf = (label: string) => ours.indexOf({ label, payment_hash: HASH });

test('two installations that begin to pay one hash in the same millisecond give their payments different labels', () => {
  expect(ours.of(INDEX)).not.toBe(theirs.of(INDEX));
  expect(indexOf(ours.of(INDEX))).toBe(INDEX);
  expect(indexOf(theirs.of(INDEX))).toBeNull();
  expect(isOwnLabel(ours.of(INDEX), ours.of(INDEX))).toBe(true);
  expect(isOwnLabel(theirs.of(INDEX), ours.of(INDEX))).toBe(false);
});

test('a label of version 0.2 has no mark, and is of the payment that it names', () => {
  expect(indexOf(labelOf(INDEX))).toBe(INDEX);
  expect(isOwnLabel(labelOf(INDEX), ours.of(INDEX))).toBe(true);
});

test('a label of another hash, or without an index, names nothing', () => {
  const other = paymentIndex(1, paymentId('ln', 'cd'.repeat(32)));
  expect(indexOf(ours.of(other))).toBeNull();
  for (const label of ['', 'wallet-sidecar/', `x/${ours.of(INDEX)}`, `${ours.of(INDEX)}/`]) {
    expect(indexOf(label)).toBeNull();
  }
  expect(isOwnLabel(undefined, ours.of(INDEX))).toBe(false);
});
