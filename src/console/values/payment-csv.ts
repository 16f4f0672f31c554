import { fromMsat, type Payment, toMsat } from '../../client/index.ts';

/** The columns of the table, in order. Amounts are in sats, times in UTC. */
const COLUMNS = {
  created_at: ({ created_at }) => utc(created_at),
  finalized_at: ({ finalized_at }) => (finalized_at === null ? '' : utc(finalized_at)),
  direction: ({ direction }) => direction,
  rail: ({ rail }) => rail,
  status: ({ status }) => status,
  status_msg: ({ status_msg }) => status_msg,
  amount: ({ amount }) => (amount === null ? '' : `${fromMsat(toMsat(amount))}`),
  fees: ({ fees }) => `${fromMsat(toMsat(fees))}`,
  personal_note: ({ personal_note }) => personal_note ?? '',
  message: ({ message }) => message ?? '',
  payer_name: ({ payer_name }) => payer_name ?? '',
  description: ({ description }) => description ?? '',
  external_id: ({ external_id }) => external_id ?? '',
  hash: ({ hash }) => hash ?? '',
  txid: ({ txid }) => txid ?? '',
  index: ({ index }) => index,
} as const satisfies Record<string, (payment: Payment) => string>;

/** Returns payments as a table for spreadsheets (RFC 4180), with a head row. */
export function paymentCsv(payments: readonly Payment[]): string {
  const rows = payments.map((payment) =>
    Object.values(COLUMNS).map((column) => cell(column(payment))),
  );
  return [Object.keys(COLUMNS), ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** What a stranger wrote must not be run by a spreadsheet as a formula, so it is made text. */
function cell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function utc(ms: number): string {
  return new Date(ms).toISOString();
}
