import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { allRows, change, firstRow, insertRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';

/** The newest block: its height, and the time when it was mined or became due. */
interface Tip {
  readonly height: number;
  readonly timeMs: number;
}

/** Returns the height of the newest block. */
export function tipHeight(world: World): number {
  return tip(world).height;
}

function tip(world: World): Tip {
  const row = firstRow<Tip>(world, 'SELECT height, time_ms AS timeMs FROM chain_tip');
  if (row === null) throw new Error('the simulated chain has no genesis');
  return row;
}

function setTip(world: World, { height, timeMs }: Tip): void {
  change(world, 'UPDATE chain_tip SET height = ?, time_ms = ?', height, timeMs);
}

/**
 * Mines `count` blocks now and returns the new height. The first block takes every transaction of the mempool, because
 * the simulated blocks have room for all: a priority changes the fee and not the waiting time.
 */
export function mineBlocks(world: World, count: number): number {
  return world.transact(() => {
    const { height } = tip(world);
    const timeMs = world.clock.now();
    if (count > 0) {
      const txids = mempool(world).map(({ txid }) => txid);
      confirm(world, { height: height + 1, timeMs }, txids);
    }
    setTip(world, { height: height + count, timeMs });
    return height + count;
  });
}

/**
 * Mines the blocks that became due since the newest one, `blockMs` apart. Each takes the transactions that were first
 * seen before it was due, so a late call gives the same heights as a timer would, and no timer need run while nothing
 * waits. After the clock was set back, the next block is due `blockMs` from now.
 */
export function mineDueBlocks(world: World, blockMs: number): void {
  world.transact(() => {
    const { height, timeMs } = tip(world);
    const nowMs = world.clock.now();
    if (nowMs < timeMs) setTip(world, { height, timeMs: nowMs });
    const count = Math.floor((nowMs - timeMs) / blockMs);
    if (count <= 0) return;
    const blocks = new Map<number, string[]>();
    for (const { txid, seenMs } of mempool(world)) {
      const place = seenMs > nowMs ? 1 : Math.max(Math.floor((seenMs - timeMs) / blockMs) + 1, 1);
      if (place > count) continue;
      blocks.set(place, [...(blocks.get(place) ?? []), txid]);
    }
    for (const [place, txids] of blocks) {
      confirm(world, { height: height + place, timeMs: timeMs + place * blockMs }, txids);
    }
    setTip(world, { height: height + count, timeMs: timeMs + count * blockMs });
  });
}

/** Milliseconds until the next block is due, at most `blockMs`. */
export function msUntilBlock(world: World, blockMs: number): number {
  const inMs = tip(world).timeMs + blockMs - world.clock.now();
  return Math.min(Math.max(inMs, 0), blockMs);
}

/** Unconfirmed transactions, in the order in which they were first seen. */
function mempool(world: World): { txid: string; seenMs: number }[] {
  return allRows(
    world,
    `SELECT txid, seen_ms AS seenMs FROM chain_transactions
     WHERE height IS NULL AND replaced_by IS NULL ORDER BY seen_ms, txid`,
  );
}

/** Puts transactions into a new block. Nothing can replace them any more. */
function confirm(world: World, block: Tip, txids: readonly string[]): void {
  if (txids.length === 0) return;
  for (const txid of txids) {
    change(world, 'UPDATE chain_transactions SET height = ? WHERE txid = ?', block.height, txid);
    change(world, 'UPDATE chain_outputs SET untrusted = 0 WHERE txid = ? AND untrusted = 1', txid);
  }
  insertBlock(world, block, txids);
}

/** Records a block. Its hash commits to the recorded block before it, to its height and to its transactions. */
function insertBlock(world: World, block: Tip, txids: readonly string[]): void {
  const previous = firstRow<{ hash: string }>(
    world,
    'SELECT hash FROM chain_blocks ORDER BY height DESC LIMIT 1',
  );
  const heightBytes = new Uint8Array(4);
  new DataView(heightBytes.buffer).setUint32(0, block.height, true);
  const header = concatBytes(
    hex.decode(previous?.hash ?? ''),
    heightBytes,
    ...txids.map((txid) => hex.decode(txid)),
  );
  const hash = hex.encode(sha256(sha256(header)));
  insertRow(world, 'chain_blocks', { height: block.height, hash, time_ms: block.timeMs });
}

/** Whether another block would change anything: a transaction, confirmations, or an HTLC that expires. */
export function hasWaitingWork(world: World): boolean {
  const row = firstRow<{ waiting: number }>(
    world,
    `SELECT EXISTS (SELECT 1 FROM chain_watches)
         OR EXISTS (SELECT 1 FROM htlcs WHERE expiry_height IS NOT NULL)
         OR EXISTS (SELECT 1 FROM held)
         OR EXISTS (SELECT 1 FROM chain_transactions WHERE height IS NULL AND replaced_by IS NULL)
         AS waiting`,
  );
  return row?.waiting === 1;
}
