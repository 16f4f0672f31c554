import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  blankPayment,
  encodePayment,
  type Payment,
  updatedIndexOf,
} from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations/index.ts';

const WALLET = 'ab'.repeat(32);
const folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-migrations-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pending: Payment = {
  ...blankPayment({
    index: paymentIndex(1, paymentId('ln', 'cd'.repeat(32))),
    rail: 'invoice',
    direction: 'outbound',
    status: 'pending',
    statusMsg: 'pending',
    createdAtMs: 1,
    updatedAtMs: 1,
  }),
  amountMsat: 5000n,
};

/** A database as the first version would have left it, brought to a later one. */
function databaseOf(version: number): string {
  const path = join(folder, `version-${version}.sqlite`);
  const db = new Database(path, { create: true });
  for (const step of MIGRATIONS.slice(0, version)) db.run(step);
  const json = JSON.stringify(encodePayment(pending));
  db.query(
    'INSERT INTO journal (wallet, idx, id, updated_idx, status, json) VALUES (?, ?, ?, ?, ?, ?)',
  ).run(WALLET, pending.index, pending.index.slice(20), updatedIndexOf(pending), 'pending', json);
  db.query('INSERT INTO watch (wallet, kind, key) VALUES (?, ?, ?)').run(
    WALLET,
    'payment',
    pending.index,
  );
  db.query('INSERT INTO connector_state (wallet, kind, key, json) VALUES (?, ?, ?, ?)').run(
    WALLET,
    'lnd-client',
    'ef'.repeat(32),
    '{"label":"shop"}',
  );
  db.run(`PRAGMA user_version = ${version}`);
  db.close();
  return path;
}

for (let version = 1; version <= MIGRATIONS.length; version++) {
  test(`a database of version ${version} is brought up to date and loses nothing that is owed`, async () => {
    const path = databaseOf(version);
    const store = openSqliteStore(path);
    expect(await store.journal.open(WALLET)).toEqual([pending]);
    expect(await store.watches.wallets()).toEqual([WALLET]);
    expect(await store.connectorState.find('lnd-client', 'ef'.repeat(32))).toEqual({
      walletId: WALLET,
      value: { label: 'shop' },
    });
    const rules = { transition: (_: Payment | null, seen: Payment) => seen };
    const { changed, deliveries } = await store.observations.apply(
      WALLET,
      {
        payments: [{ ...pending, status: 'completed', statusMsg: 'completed', finalizedAtMs: 2 }],
        cursor: null,
        journaled: true,
        nowMs: 2,
      },
      { ...rules, deliver: () => ({ id: 'msg_1', body: '{}', createdAtMs: 2 }) },
    );
    expect([changed.length, deliveries]).toEqual([1, 1]);
    expect(await store.outbox.counts()).toMatchObject({ pending: 1 });
    await store.close();
    const again = openSqliteStore(path);
    expect((await again.journal.get(WALLET, pending.index))?.status).toBe('completed');
    await again.close();
  });
}
