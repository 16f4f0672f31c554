import { closeSync, openSync, readFileSync } from 'node:fs';

/** How many files and sockets this process may have open at once; null where the system does not say. */
export function descriptorLimit(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

/**
 * The lowest descriptor that is free, so that every one below it is in use; null when none is left. Costs one file
 * opened and closed, however many are open.
 */
export function lowestFreeDescriptor(): number | null {
  let descriptor: number;
  try {
    descriptor = openSync('/dev/null', 'r');
  } catch {
    return null;
  }
  closeSync(descriptor);
  return descriptor;
}
