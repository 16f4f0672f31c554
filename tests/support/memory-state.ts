import type { ConnectorRows } from '../../src/nodes/remote-kind.ts';

/** Connector state in memory. */
export function memoryState(): ConnectorRows {
  const rows = new Map<string, unknown>();
  const name = (...parts: string[]) => JSON.stringify(parts);
  return {
    get: async (...key) => rows.get(name(...key)) ?? null,
    put: async (walletId, kind, key, value) => {
      rows.set(name(walletId, kind, key), structuredClone(value));
    },
  };
}
