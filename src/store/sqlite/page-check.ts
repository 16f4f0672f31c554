import { Database } from 'bun:sqlite';
import { codeOf } from '../../lib/error-code.ts';

/**
 * Reads every page of a SQLite file and returns what is wrong with the first damaged one, or null. It blocks the thread
 * for as long as reading the file takes, so it belongs in a process of its own (docs/decisions.md 87). It writes
 * nothing and may run while another process uses the file.
 */
export function firstDamage(path: string): string | null {
  const db = new Database(path, { readonly: true });
  try {
    db.run('PRAGMA busy_timeout = 5000');
    const row = db.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get();
    const found = row?.quick_check ?? 'no result';
    return found === 'ok' ? null : found;
  } catch (error) {
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error))) return (error as Error).message;
    throw error;
  } finally {
    db.close();
  }
}
