import { expect, test } from 'bun:test';
import { fromMsat, type Payment } from '../../../src/client/index.ts';
import { paymentCsv } from '../../../src/console/values/payment-csv.ts';

const PAYMENT = {
  index: '0000001764000000000-ln_ab',
  direction: 'inbound',
  rail: 'invoice',
  status: 'completed',
  status_msg: 'completed',
  amount: fromMsat(1_234_500n),
  fees: fromMsat(0n),
  created_at: 1_764_000_000_000,
  finalized_at: null,
  description: null,
  external_id: null,
  personal_note: 'Coffee, "large"\nfor two',
  message: '=HYPERLINK("http://x")',
  payer_name: null,
  hash: 'ab',
  txid: null,
} as Payment;

test('a table of payments has quoted cells, and no cell that a spreadsheet runs', () => {
  const [head = '', ...rows] = paymentCsv([PAYMENT]).split('\r\n');
  expect(head.split(',').slice(0, 3)).toEqual(['created_at', 'finalized_at', 'direction']);
  expect(rows.join('\r\n')).toBe(
    `2025-11-24T16:00:00.000Z,,inbound,invoice,completed,completed,1234.5,0,"Coffee, ""large""\nfor two","'=HYPERLINK(""http://x"")",,,,ab,,0000001764000000000-ln_ab\r\n`,
  );
});
