import type { MarkerFile, StoreMark } from '../../src/wallet/store-guard.ts';

/** A marker in memory. Like the file, it never lowers the count of one store. */
export function memoryMarker(): MarkerFile & { mark: StoreMark | null } {
  const marker = {
    mark: null as StoreMark | null,
    read: () => marker.mark,
    async write(mark: StoreMark): Promise<void> {
      const isBehind = marker.mark?.storeId === mark.storeId && marker.mark.count > mark.count;
      if (!isBehind) marker.mark = mark;
    },
  };
  return marker;
}
