import type { World } from '../world/world.ts';
import { hasWaitingWork, mineBlocks, mineDueBlocks, msUntilBlock, tipHeight } from './blocks.ts';
import { followChain } from './finality.ts';
import { registerMiner } from './waiting-work.ts';

/** Mines the blocks of a world, by the clock and on request. */
export interface Miner {
  /** Mines `count` blocks now, beside those that come by themselves. Returns the height. */
  mine(count: number): number;
  /** Mines what the world's clock made due; to be called after the clock was moved. */
  catchUp(): void;
  close(): void;
}

/**
 * Starts mining a block every `blockSecs` of the world's clock (0 = only on request; decisions section 9). A timer
 * runs only while something waits for a block: idle blocks, and those that came due while the program was down, are
 * counted when somebody looks, with the same heights.
 */
export function startMiner(world: World, { blockSecs }: { readonly blockSecs: number }): Miner {
  const blockMs = blockSecs * 1000;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let closed = false;

  const mineDue = () => {
    if (blockMs === 0) return;
    world.transact(() => {
      mineDueBlocks(world, blockMs);
      followChain(world);
    });
  };

  const awaitBlock = () => {
    if (timer !== null || closed || blockMs === 0 || !hasWaitingWork(world)) return;
    const delayMs = Math.min(msUntilBlock(world, blockMs), LONGEST_TIMER_MS);
    timer = setTimeout(() => {
      timer = null;
      catchUp();
      // Nobody waits for this commit who would hear that it failed.
      world.commit();
    }, delayMs);
  };

  const catchUp = () => {
    if (closed) return;
    mineDue();
    awaitBlock();
  };

  registerMiner(world, { catchUp: mineDue, awaitBlock });
  catchUp();
  return {
    mine: (count) =>
      world.transact(() => {
        mineDue();
        mineBlocks(world, count);
        followChain(world);
        return tipHeight(world);
      }),
    catchUp,
    close: () => {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Timers of more than 2^31 - 1 milliseconds fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
