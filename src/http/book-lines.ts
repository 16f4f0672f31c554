import { z } from 'zod';
import { once } from '../lib/once.ts';
import { printable, printableJson } from '../lib/printable.ts';
import { formatSignedMsat } from '../model/amount.ts';
import type { BookRow } from '../wallet/read/book-row.ts';

const signedAmount = () => z.string().regex(/^-?\d+(\.\d{1,3})?$/);

/** A line of the books as JSON. */
export const bookRowJson = once(() =>
  z.looseObject({
    kind: z.string().describe('Of the Payment whose fields the row has, or a notice.'),
    change: signedAmount().describe('In sats, with fees.'),
    balance: signedAmount().describe('Sum of changes.'),
    reason: z.string().optional().describe('Of a notice.'),
  }),
);

function encodeBookRow({ entry, changeMsat, balanceMsat }: BookRow) {
  const change = formatSignedMsat(changeMsat);
  const balance = formatSignedMsat(balanceMsat);
  if (!('reason' in entry)) return { ...entry, change, balance };
  const { kind, atMs, reason } = entry;
  return { kind, finalized_at: atMs, reason, change, balance };
}

interface BookForm {
  readonly mediaType: string;
  readonly head: string;
  /** With the end of the line. */
  lineOf(row: BookRow): string;
}

/** Every member that a row may have: rows that are no payments have few of them. */
type Cells = Partial<Record<string, string | number | null>>;

/** The columns of the table. Each text that others wrote is {@link harmless}. */
const COLUMNS: Readonly<Record<string, (cells: Cells) => string | number | null | undefined>> = {
  completed_at: ({ finalized_at }) => iso(finalized_at),
  created_at: ({ created_at }) => iso(created_at),
  direction: ({ direction }) => direction,
  kind: ({ kind }) => kind,
  amount: ({ amount }) => amount,
  fees: ({ fees }) => fees,
  change: ({ change }) => change,
  balance: ({ balance }) => balance,
  note: ({ personal_note, reason }) => harmless(personal_note ?? reason),
  message: ({ message }) => harmless(message),
  payer_name: ({ payer_name }) => harmless(payer_name),
  description: ({ description }) => harmless(description),
  external_id: ({ external_id }) => harmless(external_id),
  price: ({ price }) => price,
  currency: ({ currency }) => currency,
  rate: ({ rate }) => rate,
  rate_at: ({ rate_at }) => iso(rate_at),
  rate_source: ({ rate_source }) => rate_source,
  hash: ({ hash }) => hash,
  txid: ({ txid }) => txid,
  refund_of: ({ refund_of }) => refund_of,
  index: ({ index }) => index,
};

/** The forms of books, by the value of `format`. */
export const BOOK_FORMS: Readonly<Record<'csv' | 'json', BookForm>> = {
  csv: {
    mediaType: 'text/csv',
    head: `${Object.keys(COLUMNS).join(',')}\n`,
    lineOf: (row) => {
      const { tx: _, price: priced, ...rest } = { tx: null, price: null, ...encodeBookRow(row) };
      const cells = { ...rest, price: priced?.amount ?? null, currency: priced?.currency ?? null };
      const values = Object.values(COLUMNS).map((column) => String(column(cells) ?? ''));
      return `${values.map((value) => quoted(printable(value))).join(',')}\n`;
    },
  },
  json: {
    mediaType: 'application/x-ndjson',
    head: '',
    lineOf: (row) => `${printableJson(JSON.stringify(encodeBookRow(row)))}\n`,
  },
};

/** Quotes a field as RFC 4180 asks for. */
function quoted(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Text of others must not be a formula to a spreadsheet, which takes it for one by its first character. */
function harmless(text: Cells[string]): string {
  return /^[=+\-@]/.test(String(text ?? '')) ? `'${text}` : String(text ?? '');
}

/** A time beyond those that a date has, as `since` may be, has no text. */
function iso(atMs: Cells[string]): string | null {
  const date = new Date(Number(atMs ?? Number.NaN));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
