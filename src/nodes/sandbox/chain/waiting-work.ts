import type { World } from '../world.ts';

const listeners = new WeakMap<World, () => void>();

/** Calls `listener` after every commit that gave the miners something to do; one listener a world. */
export function onWaitingWork(world: World, listener: () => void): void {
  listeners.set(world, listener);
}

/** Tells the miners, once the current transaction has committed, that there is something to do. */
export function announceWork(world: World): void {
  world.afterCommit(() => listeners.get(world)?.());
}
