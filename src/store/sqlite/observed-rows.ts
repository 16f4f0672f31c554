import { idOf } from '../../model/payment.ts';
import { type JournalColumns, journalRowOf } from '../columns/journal.ts';
import type { Spend } from '../ports.ts';
import type { JournalRows } from '../rows/journal.ts';
import { candidatesIn, type ObservedRowsOf } from '../rows/observed-rows.ts';
import type { Rows } from '../rows/rows.ts';
import type { SpendRows } from '../rows/spends.ts';
import { done } from '../rows/steps.ts';
import { AtOnce, perform } from './rows.ts';

interface Parts {
  readonly journal: JournalRows;
  readonly spends: SpendRows;
}

/** Returns how rows of observations are read: those of each when it is looked at. */
export function sqliteObserved(_rows: Rows, { journal, spends }: Parts): ObservedRowsOf {
  return (walletId, _observations, journaled) => {
    /** The rows of the payment that was looked at last, or its spend. */
    let found: readonly JournalColumns[] = [];
    let spend: Spend | null = null;
    return new AtOnce(() => ({
      candidates(seen) {
        const { payment } = seen;
        if (journaled) {
          found = perform(journal.ofId(walletId, idOf(payment)));
          return candidatesIn(found, seen, journalRowOf);
        }
        const isInbound = payment.direction === 'inbound';
        spend = isInbound ? null : perform(spends.get(walletId, payment.index));
        return { sameIndex: spend, sameAttempt: null, latest: null };
      },
      isTaken: (index) => found.some(({ idx }) => idx === index),
      isWatched: () => true,
      unshown: (index) => (journaled ? spends.get(walletId, index) : done(spend)),
      put: () => undefined,
      shown: () => undefined,
      end: () => undefined,
    }));
  };
}
