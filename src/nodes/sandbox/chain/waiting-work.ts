import type { World } from '../world/world.ts';

/** What the miners of a world do for those who write to its chain. */
interface MinerHooks {
  /** Mines what the clock made due. */
  readonly catchUp: () => void;
  /** Sees to it that the next block comes. */
  readonly awaitBlock: () => void;
}

const miners = new WeakMap<World, MinerHooks>();

/** Registers the miners of a world. */
export function registerMiner(world: World, hooks: MinerHooks): void {
  miners.set(world, hooks);
}

/** Brings the chain up to the clock, within the caller's transaction, before something is added to it. */
export function catchUpChain(world: World): void {
  miners.get(world)?.catchUp();
}

/** Tells the miners, once the current transaction has committed, that something waits for a block. */
export function announceWork(world: World): void {
  world.afterCommit(() => miners.get(world)?.awaitBlock());
}
