import type { JournalColumns } from './columns/journal.ts';
import type { NewSpend } from './ports.ts';

/** Whether the newest payment of an id is not the one any more that was seen when a spend of it was decided. */
export function isOvertaken(
  seen: NewSpend['previous'],
  latest: Pick<JournalColumns, 'idx' | 'status'> | null,
): boolean {
  return seen?.index !== latest?.idx || seen?.status !== latest?.status;
}
