import type { World } from '../world/world.ts';

/** Functions of the miner that code below it calls, which may not import the miner. */
interface MinerHooks {
  readonly catchUp: () => void;
  readonly awaitBlock: () => void;
}

const miners = new WeakMap<World, MinerHooks>();

/** Registers the miner of a world. */
export function registerMiner(world: World, hooks: MinerHooks): void {
  miners.set(world, hooks);
}

/** Mines the blocks that are due, within the caller's transaction, before something is added to the chain. */
export function catchUpChain(world: World): void {
  miners.get(world)?.catchUp();
}

/** Tells the miner, once the current transaction has committed, that something waits for a block. */
export function announceWork(world: World): void {
  world.afterCommit(() => miners.get(world)?.awaitBlock());
}
