import type { SQL } from 'bun';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { Watch } from '../ports.ts';
import { watchKey } from '../watch-key.ts';
import { together } from './together.ts';

/** Rows of the watch table, for ports that write them inside their own transactions. */
export const watchRows = {
  async add(tx: SQL, walletId: string, watch: Watch): Promise<void> {
    await tx`INSERT INTO wallet_sidecar.watch (wallet, kind, key) VALUES (${walletId}, ${watch.kind}, ${watchKey(watch)})
      ON CONFLICT DO NOTHING`;
  },
  /**
   * Deletes the watches of one payment. Watches of offers and addresses stay. Returns whether its end was watched.
   */
  async endPayment(tx: SQL, walletId: string, index: PaymentIndex): Promise<boolean> {
    const ended = await tx<{ kind: string }[]>`
      DELETE FROM wallet_sidecar.watch WHERE wallet = ${walletId} AND kind IN ('payment', 'held') AND key = ${index} RETURNING kind`;
    return ended.some(({ kind }) => kind === 'payment');
  },
  /** Deletes a watch. Returns whether there was one. */
  async end(tx: SQL, walletId: string, watch: Watch): Promise<boolean> {
    const { count } = await tx`
      DELETE FROM wallet_sidecar.watch WHERE wallet = ${walletId} AND kind = ${watch.kind} AND key = ${watchKey(watch)}`;
    return count > 0;
  },
  /** Whether the wallet has any of these watches. */
  async hasAny(tx: SQL, walletId: string, watches: readonly Watch[]): Promise<boolean> {
    const found = await together(
      watches.map(
        (watch) => tx`
          SELECT 1 FROM wallet_sidecar.watch WHERE wallet = ${walletId} AND kind = ${watch.kind} AND key = ${watchKey(watch)}`,
      ),
    );
    return found.some((rows) => rows.length > 0);
  },
};
