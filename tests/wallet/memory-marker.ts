import type { MarkerFile, StoreMark } from '../../src/wallet/store-guard.ts';

/** A marker in memory that behaves as the file does: of one store it never goes back. */
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
