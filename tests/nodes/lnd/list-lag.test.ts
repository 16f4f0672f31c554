import { beforeEach, expect, test } from 'bun:test';
import { ListLag } from '../../../src/nodes/lnd/follow/list-lag.ts';

let nowMs: number;
let lag: ListLag;
beforeEach(() => {
  nowMs = 0;
  lag = new ListLag(() => nowMs);
});

const seen = (num_confirmations: number) => ({ tx_hash: '0a'.repeat(32), num_confirmations });

test('a list that was never told to hold something is not waited for', () => {
  expect(lag.waiting).toBe(false);
  lag.read([], false);
  expect(lag.waiting).toBe(false);
});

test('a transaction that LND told is waited for until it is listed', () => {
  lag.toldTransaction(seen(0));
  lag.read([{ tx_hash: '0b'.repeat(32), num_confirmations: 0 }], true);
  expect(lag.waiting).toBe(true);
  lag.read([seen(0)], true);
  expect(lag.waiting).toBe(false);
});

test('one that LND told in a block is waited for until it is listed in one', () => {
  lag.toldTransaction(seen(1));
  lag.read([seen(0)], true);
  expect(lag.waiting).toBe(true);
  lag.read([seen(2)], true);
  expect(lag.waiting).toBe(false);
});

test('a block that LND told is waited for until the wallet has read it', () => {
  lag.toldBlock();
  lag.read([], false);
  expect(lag.waiting).toBe(true);
  lag.read([], true);
  expect(lag.waiting).toBe(false);
});

test('nothing is waited for longer than ten seconds', () => {
  lag.toldTransaction(seen(0));
  lag.toldBlock();
  lag.read([], false);
  nowMs = 9_999;
  expect(lag.waiting).toBe(true);
  nowMs = 10_000;
  expect(lag.waiting).toBe(false);
  lag.read([], false);
  expect(lag.waiting).toBe(false);
});
