import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { LoadResult } from './load.ts';

/** The length of a row in characters: about that of an invoice and its pending payment together. */
const ROW_LENGTH = 2_000;

/**
 * Repeats for `ms` milliseconds what creating an invoice needs at least: one signature, and one durable commit of a row
 * to a file in `folder`, with the settings of the sidecar's files.
 */
export function writeFloor(folder: string, ms: number): LoadResult {
  const db = new Database(join(folder, 'floor.sqlite'));
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = FULL');
  db.run('CREATE TABLE written (row TEXT NOT NULL)');
  const insert = db.prepare('INSERT INTO written (row) VALUES (?)');
  const row = 'x'.repeat(ROW_LENGTH);
  const digest = new Uint8Array(32).fill(7);
  const latencies: number[] = [];
  const startedAt = performance.now();
  let now = startedAt;
  while (now - startedAt < ms) {
    secp256k1.sign(digest, digest, { prehash: false });
    insert.run(row);
    const before = now;
    now = performance.now();
    latencies.push(now - before);
  }
  db.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    perSecond: (latencies.length * 1000) / (now - startedAt),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}
