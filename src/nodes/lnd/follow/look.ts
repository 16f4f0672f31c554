import type { z } from 'zod';
import type { UpdatesOptions } from '../../node-observations.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndWallet } from '../reads/wallet.ts';
import type { FollowCursor } from '../words/cursor.ts';
import type { Holds } from './holds.ts';
import type { ListLag } from './list-lag.ts';
import type { SpendWatch } from './spends.ts';
import type { Unfinished } from './unfinished.ts';

/** What one look at LND needs. */
export interface Look extends Pick<UpdatesOptions, 'open' | 'log'> {
  readonly rest: LndRest;
  readonly wallet: LndWallet;
  readonly cursor: FollowCursor;
  /** Of a list that was never read, only payments made at this time or later, in milliseconds; null: all. */
  readonly sinceMs: number | null;
  readonly unfinished: Unfinished;
  readonly spends: SpendWatch;
  readonly holds: Holds;
  readonly listLag: ListLag;
  /**
   * `lists`: what is new in LND's lists, the sends that are not over, and the invoices that are due. `everyInvoice`:
   * that, and whether each open invoice is still open. `due`: the invoices that are due.
   */
  readonly reads: 'everyInvoice' | 'lists' | 'due';
}

/** Returns what `use` makes of the rows that can be read; see {@link OddRows}. */
export function readRows<Row, Result>(
  { wallet, log }: Look,
  rows: readonly unknown[],
  shape: z.ZodType<Row>,
  use: (row: Row) => readonly Result[],
): Result[] {
  return wallet.oddRows.read(rows, { shape, use, log }).flat();
}
