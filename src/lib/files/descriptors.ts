import { closeSync, openSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { codeOf } from '../error-code.ts';

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
    closeSync(openSync(devNull, 'r'));
    return true;
  } catch (error) {
    // Of this process, and of the whole system.
    return !/^(EMFILE|ENFILE)$/.test(codeOf(error));
  }
}
