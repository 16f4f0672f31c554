import { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { encodeBolt11 } from '../src/codecs/bolt11/index.ts';
import { blankPayment, encodePayment, type Payment } from '../src/model/payment.ts';
import { paymentId, paymentIndex } from '../src/model/payment-index.ts';

/**
 * Writes finished payments of about 1 kB directly into the sandbox's file: half received and half sent, with an
 * invoice, its preimage and a note. No sidecar may have the file open. All have one invoice's text, since signing each
 * would take longer than measuring. They are numbered up to `rows`; the first `after` of them are there already.
 */
export function seedPayments(
  path: string,
  userPk: string,
  { rows, after = 0 }: { readonly rows: number; readonly after?: number },
): void {
  const invoice = encodeBolt11(
    {
      network: 'regtest',
      amountMsat: 1000n,
      timestampSecs: 1_700_000_000,
      paymentHash: '11'.repeat(32),
      paymentSecret: '22'.repeat(32),
      description: 'an order of the shop',
      expirySecs: 3600,
      features: [8, 14, 17],
    },
    new Uint8Array(32).fill(7),
  );
  const db = new Database(path);
  const insert = db.prepare(
    'INSERT INTO payments (user_pk, idx, id, updated_ms, status, json) VALUES (?, ?, ?, ?, ?, ?)',
  );
  db.transaction(() => {
    for (let at = after + 1; at <= rows; at++) {
      const payment = seededPayment(at, invoice);
      const { index, status } = payment;
      const json = JSON.stringify(encodePayment(payment));
      insert.run(userPk, index, paymentId('ln', payment.hash ?? ''), at, status, json);
    }
  })();
  db.close();
}

function seededPayment(at: number, invoice: string): Payment {
  const preimage = createHash('sha256').update(String(at)).digest();
  const hash = createHash('sha256').update(preimage).digest('hex');
  const isSent = at % 2 === 0;
  return {
    ...blankPayment({
      index: paymentIndex(at, paymentId('ln', hash)),
      rail: 'invoice',
      direction: isSent ? 'outbound' : 'inbound',
      status: 'completed',
      statusMsg: 'completed',
      createdAtMs: at,
      updatedAtMs: at,
    }),
    hash,
    preimage: preimage.toString('hex'),
    amountMsat: 1000n,
    feesMsat: isSent ? 5n : 0n,
    invoice,
    personalNote: `order ${at} of a customer`,
    expiresAtMs: at + 3_600_000,
    finalizedAtMs: at,
  };
}
