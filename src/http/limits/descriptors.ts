import { closeSync, openSync, readFileSync } from 'node:fs';

/** Returns how many files and sockets this process may have open at once; null where the system does not say. */
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
 * Returns the lowest free file descriptor; all lower ones are in use. Returns null when none is free. It opens and
 * closes one file, so its cost does not grow with the number of open descriptors.
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
