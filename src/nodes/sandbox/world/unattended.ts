import type { World } from './world.ts';

/** Work that was refused, as by a full disk, is tried again after this long. */
export const AGAIN_MS = 1_000;

const refusing = new WeakSet<World>();

/**
 * Does work that a timer began, and makes it durable. Returns whether it is kept: there is no caller who could be told
 * otherwise, and what a timer throws ends the process. The first refusal after work that was kept is logged.
 */
export function unattended(world: World, work: () => void): boolean {
  try {
    work();
    world.commit();
    refusing.delete(world);
    return true;
  } catch (error) {
    if (!refusing.has(world)) {
      world.warn('The sandbox could not store what is due; it is tried again until it can.', {
        error,
      });
    }
    refusing.add(world);
    return false;
  }
}
