import { describe, expect, test } from 'bun:test';
import { LookSchedule } from '../../../src/nodes/lnd/follow/look-schedule.ts';

const QUIET = { wanted: null, isDeafToInvoices: false } as const;

/** The looks of ten minutes in which invoices fall due twice a second, each look 10 ms long. */
function looksWhileInvoicesFallDue(inbox: Parameters<LookSchedule['next']>[1]): string[] {
  const schedule = new LookSchedule(0, { settleIndex: 1 });
  schedule.over(0, null);
  const looks: string[] = [];
  for (let nowMs = 0; nowMs < 600_000; nowMs += 500) {
    const reads = schedule.next(nowMs, inbox, 0);
    if (reads === null) continue;
    looks.push(reads);
    schedule.over(nowMs + 10, null);
  }
  return looks;
}

describe('the lists are read at their time', () => {
  test('however often invoices fall due', () => {
    const lists = looksWhileInvoicesFallDue(QUIET).filter((reads) => reads === 'lists');
    // Once a second after the start, then every 30 seconds.
    expect(lists).toHaveLength(20);
  });

  test('soon after LND told of an invoice made elsewhere, however often others fall due', () => {
    const looks = looksWhileInvoicesFallDue({ ...QUIET, wanted: 'soon' });
    expect(looks.filter((reads) => reads === 'lists').length).toBeGreaterThan(200);
  });
});
