import { expect, test } from 'bun:test';
import { fuzzCodecs } from '../../fuzz/codecs.ts';
import { rounds } from '../support/rounds.ts';

test('every reader of outside strings returns a value or throws CodecError, and what it reads is stable', () => {
  const { findings, perTarget } = fuzzCodecs({ seed: 20_260_921, inputs: rounds(10_000, 60_000) });
  expect(findings).toEqual([]);
  // If all inputs failed the first check of their reader, the test would find nothing.
  expect(perTarget.filter(({ decoded, inputs }) => decoded < inputs / 100)).toEqual([]);
}, 120_000);
