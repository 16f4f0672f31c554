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

/** Whether this process can open one more file or socket. */
export function isDescriptorFree(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return true;
  } catch {
    return false;
  }
}
