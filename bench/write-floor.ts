import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { useWriteAheadLog } from '../src/lib/databases/write-ahead-log.ts';
import type { LoadResult } from './load.ts';

/** The length of a row in characters: about that of an invoice and its pending payment together. */
const ROW_LENGTH = 2_000;

/** What a floor does again and again. */
interface FloorWork {
  readonly signatures: number;
  /** How many signatures are checked by recovering their key, as an invoice's is. */
  readonly checks: number;
  readonly commits: number;
}

/** What creating an invoice needs at least. */
export const INVOICE_FLOOR: FloorWork = { signatures: 1, checks: 0, commits: 1 };
/** What creating an invoice and paying it need at least: both wallets are told only what is durable. */
export const PAIR_FLOOR: FloorWork = { signatures: 1, checks: 1, commits: 2 };

/**
 * Repeats this work for `ms` milliseconds. A commit is a durable one of a row to a file in `folder`, with the settings
 * of the sidecar's files.
 */
export function writeFloor(folder: string, ms: number, work: FloorWork): LoadResult {
  const db = new Database(join(folder, 'floor.sqlite'));
  useWriteAheadLog(db);
  db.run('CREATE TABLE IF NOT EXISTS written (row TEXT NOT NULL)');
  const insert = db.prepare('INSERT INTO written (row) VALUES (?)');
  const row = 'x'.repeat(ROW_LENGTH);
  const digest = new Uint8Array(32).fill(7);
  const sign = () => secp256k1.sign(digest, digest, { prehash: false, format: 'recovered' });
  const signature = sign();
  const latencies: number[] = [];
  const startedAt = performance.now();
  let now = startedAt;
  while (now - startedAt < ms) {
    for (let at = 0; at < work.signatures; at++) sign();
    for (let at = 0; at < work.checks; at++) {
      secp256k1.recoverPublicKey(signature, digest, { prehash: false });
    }
    for (let at = 0; at < work.commits; at++) insert.run(row);
    const before = now;
    now = performance.now();
    latencies.push(now - before);
  }
  db.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    count: latencies.length,
    perSecond: (latencies.length * 1000) / (now - startedAt),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}
