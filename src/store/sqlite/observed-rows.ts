import { idOf } from '../../model/payment.ts';
import { type JournalColumns, journalRowOf } from '../columns/journal.ts';
import type { Spend } from '../ports.ts';
import { ID, type JournalRows } from '../rows/journal.ts';
import type { ObservedRowsOf } from '../rows/observed-rows.ts';
import type { Rows } from '../rows/rows.ts';
import type { SpendRows } from '../rows/spends.ts';
import { done } from '../rows/steps.ts';
import { tableOf } from '../rows/table.ts';
import { SIGNED } from '../signed-tables.ts';
import { AtOnce, perform } from './rows.ts';

interface Parts {
  readonly journal: JournalRows;
  readonly spends: SpendRows;
}

/** Returns how rows of observations are read: each one when a rule asks for it. */
export function sqliteObserved(rows: Rows, { journal, spends }: Parts): ObservedRowsOf {
  const byAttempt = tableOf<JournalColumns>(rows, SIGNED.journal).select(
    `${rows.indexedBy('journal_by_attempt')} WHERE wallet = ? AND ${ID} = ? AND attempt = ? LIMIT 1`,
    { of: journalRowOf },
  );
  return (walletId, _observations, journaled) => {
    /** The spend of the payment that was looked at last. */
    let found: Spend | null = null;
    return new AtOnce(() => ({
      candidates({ payment, attempt }) {
        const { index } = payment;
        if (!journaled) {
          const isInbound = payment.direction === 'inbound';
          found = isInbound ? null : perform(spends.get(walletId, index));
          return { sameIndex: found, sameAttempt: null, latest: null };
        }
        const id = idOf(payment);
        return {
          get sameIndex() {
            return perform(journal.get(walletId, index));
          },
          get sameAttempt() {
            return attempt === null ? null : perform(byAttempt.one(walletId, id, attempt));
          },
          get latest() {
            return perform(journal.latest(walletId, id));
          },
        };
      },
      isTaken: (index) => perform(journal.get(walletId, index)) !== null,
      isWatched: () => true,
      unshown: (index) => (journaled ? spends.get(walletId, index) : done(found)),
      put: () => undefined,
      shown: () => undefined,
      end: () => undefined,
    }));
  };
}
