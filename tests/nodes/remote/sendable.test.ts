import { beforeEach, expect, test } from 'bun:test';
import { refused } from '../../../src/model/errors.ts';
import { Sendable } from '../../../src/nodes/remote/place/sendable.ts';

let nowMs: number;
let reads: number;
let node: () => Promise<bigint>;
let sendable: Sendable;
beforeEach(() => {
  nowMs = 0;
  reads = 0;
  node = async () => 5000n;
  sendable = new Sendable(() => nowMs);
});
const read = () => {
  reads += 1;
  return node();
};
const isSent = (amountMsat: bigint, maxFeeMsat = 0n) =>
  sendable.require(read, { amountMsat, maxFeeMsat }).then(
    () => true,
    (error) => error.message,
  );

test('what was read is good for all payments of a second, less what they take', async () => {
  sendable.readAhead(read);
  nowMs = 999;
  expect([await isSent(3000n), await isSent(200n), await isSent(180n)]).toEqual([true, true, true]);
  expect(reads).toBe(1);
  sendable.readAhead(read);
  expect([await isSent(163n), reads]).toEqual([true, 2]);
  nowMs += 1000;
  expect([await isSent(1n), reads]).toEqual([true, 3]);
});

test('what the fees of a payment may take counts as taken', async () => {
  sendable.readAhead(read);
  expect([await isSent(100n, 4800n), reads]).toEqual([true, 1]);
  expect([await isSent(10n), reads]).toEqual([true, 1]);
  node = async () => 5n;
  expect(await isSent(10n)).toMatch(/can send 0.005 sats/);
});

test('the first payment may take all that was read, and one after it a tenth of what is left', async () => {
  sendable.readAhead(read);
  expect([await isSent(4000n), reads]).toEqual([true, 1]);
  // Another program has paid meanwhile.
  node = async () => 100n;
  expect([await isSent(100n), reads]).toEqual([true, 1]);
  expect(await isSent(101n)).toMatch(/can send 0.1 sats/);
  nowMs += 1000;
  sendable.readAhead(read);
  expect([await isSent(100n), reads]).toEqual([true, 3]);
});

test('of payments at one instant no more pass unasked than what was read is enough for', async () => {
  sendable.readAhead(read);
  const sent = await Promise.all([isSent(3000n), isSent(3000n), isSent(200n)]);
  expect(sent).toEqual([true, true, true]);
  expect(reads).toBe(2);
});

test('what is refused takes nothing', async () => {
  expect(await isSent(5001n)).toMatch(/can send 5 sats/);
  expect([await isSent(5000n), reads]).toEqual([true, 1]);
});

test('nothing is refused without asking the node again', async () => {
  node = async () => 0n;
  sendable.readAhead(read);
  node = async () => 5000n;
  expect([await isSent(5000n), reads]).toEqual([true, 2]);
  expect(await isSent(5001n)).toMatch(/can send 5 sats/);
});

test('a read ahead that fails is made again, and that error counts', async () => {
  node = async () => {
    throw refused('The node is away.');
  };
  sendable.readAhead(read);
  expect([await isSent(1n), reads]).toEqual(['The node is away.', 2]);
});
