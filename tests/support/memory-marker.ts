import type { Mark } from '../../src/lib/files/marker-file.ts';
import type { GuardMarker } from '../../src/wallet/budget/store-guard.ts';

/** A marker in memory. Like the file, it never lowers the count of one store. */
export function memoryMarker(): GuardMarker & { mark: Mark | null } {
  const marker = {
    mark: null as Mark | null,
    read: () => marker.mark,
    async write(mark: Mark): Promise<void> {
      const isBehind = marker.mark?.storeId === mark.storeId && marker.mark.count > mark.count;
      if (!isBehind) marker.mark = mark;
    },
  };
  return marker;
}
