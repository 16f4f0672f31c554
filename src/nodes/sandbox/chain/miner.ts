import { AGAIN_MS, unattended } from '../world/unattended.ts';
import type { World } from '../world/world.ts';
import { hasWaitingWork, mineBlocks, mineDueBlocks, msUntilBlock, tipHeight } from './blocks.ts';
import { followChain } from './finality.ts';
import { registerMiner } from './waiting-work.ts';

/** Mines the blocks of a world, by the clock and on request. */
export type Miner = ReturnType<typeof startMiner>;

/**
 * Starts mining a block every `blockSecs` of the world's clock; 0 mines on request only (docs/decisions.md 78). A timer
 * runs only while something waits for a block. Blocks that came due otherwise, also while the program was not running,
 * are mined at the next call, with the same heights.
 */
export function startMiner(world: World, { blockSecs }: { readonly blockSecs: number }) {
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
    wakeIn(Math.min(msUntilBlock(world, blockMs), LONGEST_TIMER_MS));
  };

  const wakeIn = (delayMs: number) => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      if (!unattended(world, catchUp)) wakeIn(AGAIN_MS);
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
    /** Mines `count` blocks now, in addition to those that are due. Returns the height. */
    mine: (count: number): number =>
      world.transact(() => {
        mineDue();
        mineBlocks(world, count);
        followChain(world);
        return tipHeight(world);
      }),
    /** Mines the blocks that became due by the world's clock. Must be called after the clock was moved. */
    catchUp,
    close: () => {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Timers with a longer delay than 2^31 - 1 milliseconds would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
