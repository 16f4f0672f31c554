import { describe, expect, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import {
  type Fate,
  fateOf,
  type Question,
  type Word,
  wordOf,
} from '../../../src/wallet/pay/spend-state.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { refusal, silence } from './send-world.ts';

const WORDS: readonly Word[] = ['refused', 'silent', 'own', 'other_open', 'other_paid', 'never'];

/** What becomes of a spend, one row for each question, in the order of {@link WORDS}. */
const ASKED: Readonly<Record<Question, readonly Fate[]>> = {
  request: ['give_up', 'wait', 'record', 'give_way', 'give_way', 'fail'],
  publish: ['give_up', 'wait', 'record', 'wait', 'give_way', 'fail'],
  repeat: ['wait', 'wait', 'record', 'wait', 'give_way', 'wait'],
  look: ['wait', 'wait', 'record', 'wait', 'give_way', 'fail'],
  late_look: ['wait', 'send_again', 'record', 'wait', 'give_way', 'fail'],
  untold_look: ['wait', 'wait', 'record', 'wait', 'give_way', 'give_up'],
};
const KNOWN: Readonly<Record<Question, readonly Fate[]>> = {
  request: ['give_way', 'wait', 'record', 'give_way', 'give_way', 'wait'],
  publish: ['wait', 'wait', 'record', 'wait', 'give_way', 'wait'],
  repeat: ['wait', 'wait', 'record', 'wait', 'give_way', 'wait'],
  look: ['wait', 'wait', 'record', 'wait', 'give_way', 'wait'],
  late_look: ['wait', 'wait', 'record', 'wait', 'give_way', 'wait'],
  untold_look: ['wait', 'wait', 'record', 'wait', 'give_way', 'wait'],
};

describe('what becomes of a spend', () => {
  for (const [state, table] of [
    ['asked', ASKED],
    ['known', KNOWN],
  ] as const) {
    for (const question of Object.keys(table) as Question[]) {
      test(`that is ${state}, by each word to the question "${question}"`, () => {
        expect(WORDS.map((word) => fateOf(state, question, word))).toEqual([...table[question]]);
      });
    }
  }

  test('one that was only begun is given up, whatever the node says', () => {
    for (const question of Object.keys(ASKED) as Question[]) {
      for (const word of WORDS) expect(fateOf('begun', question, word)).toBe('give_up');
    }
  });

  test('only a refusal of the very request, or a node that never told of it, undoes a spend that was asked', () => {
    const undone = Object.entries(ASKED).flatMap(([question, fates]) =>
      fates.flatMap((fate, at) => (fate === 'give_up' ? [`${question} ${WORDS[at]}`] : [])),
    );
    expect(undone).toEqual(['request refused', 'publish refused', 'untold_look never']);
  });
});

test('each report and outcome is one word, and another attempt is paid only once it is completed', async () => {
  type Said = Parameters<typeof wordOf>[0];
  const word = (said: Said) => wordOf(said, samplePayment(1));
  const known = (payment: Payment) => word({ state: 'known', payment, attempt: 1 });
  const taken = (payment: Payment) => word({ state: 'taken', payment, attempt: 1 });
  expect(known(sampleFailed(1))).toBe('own');
  expect(known(samplePayment(1, { amountMsat: null }))).toBe('own');
  expect(known(samplePayment(1, { amountMsat: 999n }))).toBe('other_open');
  expect(known(sampleDone(1, { amountMsat: 1001n }))).toBe('other_paid');
  const otherAmount = { state: 'known', payment: sampleDone(1, { amountMsat: 1n }) } as const;
  expect(wordOf({ ...otherAmount, attempt: 1 })).toBe('own');
  expect(word({ ...otherAmount, attempt: null })).toBe('own');
  expect(word(await refusal())).toBe('refused');
  expect(word(await silence())).toBe('silent');
  expect(word({ state: 'unknown' })).toBe('silent');
  expect(word({ state: 'never', reason: 'not sent' })).toBe('never');
  expect(taken(samplePayment(1))).toBe('other_open');
  expect(taken(sampleFailed(1))).toBe('other_open');
  expect(taken(sampleDone(1))).toBe('other_paid');
});
