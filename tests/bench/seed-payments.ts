import { Database } from 'bun:sqlite';
import { blankPayment, encodePayment } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';

/** Writes finished payments directly into the sandbox's file. No sidecar may have the file open. */
export function seedPayments(path: string, userPk: string, rows: number): void {
  const db = new Database(path);
  const insert = db.prepare(
    'INSERT INTO payments (user_pk, idx, id, updated_ms, status, json) VALUES (?, ?, ?, ?, ?, ?)',
  );
  db.transaction(() => {
    for (let at = 1; at <= rows; at++) {
      const id = paymentId('ln', at.toString(16).padStart(64, '0'));
      const index = paymentIndex(at, id);
      const payment = blankPayment({
        index,
        rail: 'invoice',
        direction: 'inbound',
        status: 'completed',
        statusMsg: 'completed',
        createdAtMs: at,
        updatedAtMs: at,
      });
      insert.run(
        userPk,
        index,
        id,
        at,
        'completed',
        JSON.stringify(
          encodePayment({ ...payment, amountMsat: 1000n, finalizedAtMs: at, hash: id.slice(3) }),
        ),
      );
    }
  })();
  db.close();
}
