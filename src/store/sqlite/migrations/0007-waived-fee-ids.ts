import type { Database } from 'bun:sqlite';
import { presentId } from '../../../model/payment-index.ts';

/** Columns whose values end in a payment id: ids, indexes, updated indexes and keys made of them. */
const NAMES = [
  ['cache', 'idx'],
  ['cache_cursor', 'updated_idx'],
  ['feed_cursor', 'cursor'],
  ['journal', 'idx'],
  ['journal', 'id'],
  ['journal', 'updated_idx'],
  ['watch', 'key'],
  ['delivery', 'idx'],
  ['spend', 'idx'],
  ['spending', 'idx'],
  ['idempotency', 'idx'],
] as const;

/** Columns that hold the JSON of a payment, or of an answer that has the payment's index in the same field. */
const PAYMENTS = [
  ['cache', 'json'],
  ['journal', 'json'],
  ['spend', 'json'],
  ['delivery', 'body'],
  ['idempotency', 'body'],
] as const;

/** Length of a payment id in characters: a prefix of two, an underscore and 64 hex characters. */
const ID_LENGTH = 67;

/**
 * Renames the ids of waived fees from `wf_` to `or_` wherever one is stored (docs/decisions.md 24). The time in an
 * index stays, and a delivery keeps its webhook-id. Effects that were named for a key need no change: they belong to
 * sends and receipts, and a waived fee is neither.
 */
export function waivedFeeIds(db: Database): void {
  db.run('CREATE TEMP TABLE renamed (old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID');
  const insert = db.query('INSERT OR IGNORE INTO temp.renamed VALUES (?, ?)');
  const collect = (table: string, name: string, where: string) => {
    const rows = db.query<{ old: string }, []>(
      `SELECT DISTINCT ${idIn(name)} AS old FROM ${table} WHERE ${where}`,
    );
    for (const { old } of rows.all()) insert.run(old, presentId(old));
  };
  for (const [table, column] of PAYMENTS) {
    // A sealed outcome is not JSON. It holds a client and no payment.
    const isHeld = `instr(${column}, '-wf_') > 0 AND json_valid(${column})`;
    const index = `iif(${isHeld}, ${column} ->> '$.index', NULL)`;
    collect(table, index, isWaivedFee(index));
    db.run(
      `UPDATE ${table} SET ${column} = json_set(${column}, '$.index', ${renamed(index)})
       WHERE ${isWaivedFee(index)}`,
    );
  }
  for (const [table, column] of NAMES) {
    collect(table, column, isWaivedFee(column));
    db.run(`UPDATE ${table} SET ${column} = ${renamed(column)} WHERE ${isWaivedFee(column)}`);
  }
  db.run('DROP TABLE temp.renamed');
}

function idIn(name: string): string {
  return `substr(${name}, -${ID_LENGTH})`;
}

function isWaivedFee(name: string): string {
  return `${idIn(name)} GLOB 'wf_[0-9a-f]*'`;
}

function renamed(name: string): string {
  const before = `substr(${name}, 1, length(${name}) - ${ID_LENGTH})`;
  return `${before} || (SELECT new FROM temp.renamed WHERE old = ${idIn(name)})`;
}
