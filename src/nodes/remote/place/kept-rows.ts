import type { z } from 'zod';
import type { RemoteWallet } from './wallet.ts';

/** Rows of one kind that the store keeps for wallets of a node, by their keys. */
export function keptRows<Row>(kind: string, shape: z.ZodType<Row>) {
  return {
    /** The row of a key; null where there is none. Throws an error for one that cannot be read. */
    async get({ rows, userPk }: Pick<RemoteWallet, 'rows' | 'userPk'>, key: string) {
      return shape.nullable().parse((await rows.get(userPk, kind, key)) ?? null);
    },
    /** Keeps a row; null for none. */
    put({ rows, userPk }: Pick<RemoteWallet, 'rows' | 'userPk'>, key: string, row: Row | null) {
      return rows.put(userPk, kind, key, row);
    },
  };
}
