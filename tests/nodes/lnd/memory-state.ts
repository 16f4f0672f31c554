import type { LndState } from '../../../src/nodes/lnd/place.ts';

/** Connector state in memory. */
export function memoryState(): LndState {
  const rows = new Map<string, unknown>();
  const name = (...parts: string[]) => JSON.stringify(parts);
  return {
    get: async (...key) => rows.get(name(...key)) ?? null,
    put: async (walletId, kind, key, value) => {
      rows.set(name(walletId, kind, key), structuredClone(value));
    },
  };
}
