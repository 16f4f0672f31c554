import { z } from 'zod';
import { printable, printableJson } from '../../lib/printable.ts';
import { formatAmountMsat, parseAmountMsat } from '../../model/amount.ts';
import { type PaymentJson, paymentJson } from '../../model/payment.ts';
import { asking, flag } from '../command.ts';
import type { AskSidecar } from '../http.ts';
import { readPast } from '../inputs.ts';

const pageJson = z.object({ payments: z.array(paymentJson()), next_index: z.string().nullable() });
const PAGE = 1000;
const DOING = 'Reading payments';

/** A completed payment and the sum of all that were completed up to it, in millisatoshis. */
interface Entry {
  readonly payment: PaymentJson;
  readonly changeMsat: bigint;
  readonly balanceMsat: bigint;
}

/** Adds `export`, which prints all completed payments for bookkeeping. */
export const addExport = asking(
  'export',
  {
    about:
      'Print all completed payments in the order in which they were completed, each with what it changed and the sum so far (amounts in sats, fees included). The sum holds payments alone, so fees of channels are not in it.',
    words: {
      format: flag(
        '--format <format>',
        'a table for spreadsheets, or one JSON object for each line',
        ['csv', 'jsonl'],
        'csv',
      ),
      since: flag(
        '--since <time>',
        'print those completed at or after this time, such as 2030-01-31',
        readPast,
      ),
      until: flag('--until <time>', 'print those completed before this time', readPast),
      sync: flag('--no-sync', 'take the cache as it is, without asking the node'),
    },
    examples: [
      'export > payments.csv',
      'export --format jsonl --since 2030-01-01 --until 2031-01-01',
    ],
  },
  async ({ format, since = 0, until = Number.POSITIVE_INFINITY, sync }, { io, flags, ask }) => {
    const payments = await completedPayments(ask, sync);
    const entries = entriesOf(payments).filter(({ payment: { finalized_at } }) => {
      const atMs = finalized_at ?? 0;
      return atMs >= since && atMs < until;
    });
    const asJson = flags.json || format === 'jsonl';
    if (!asJson) io.stdout(Object.keys(CSV).join(','));
    for (const entry of entries) io.stdout(asJson ? jsonLine(entry) : csvLine(entry));
  },
);

async function completedPayments(ask: AskSidecar, sync: boolean): Promise<PaymentJson[]> {
  if (sync) await ask((sidecar) => sidecar.syncPayments(), z.unknown(), DOING);
  const payments: PaymentJson[] = [];
  let after: string | undefined;
  do {
    const query = { filter: 'completed', order: 'asc', limit: PAGE, after } as const;
    const { value } = await ask((sidecar) => sidecar.listPayments(query), pageJson, DOING);
    payments.push(...value.payments);
    after = value.next_index ?? undefined;
  } while (after !== undefined);
  return payments;
}

function entriesOf(payments: readonly PaymentJson[]): Entry[] {
  let balanceMsat = 0n;
  return payments
    .toSorted((a, b) => (a.finalized_at ?? 0) - (b.finalized_at ?? 0))
    .map((payment) => {
      const changeMsat = changeOf(payment);
      balanceMsat += changeMsat;
      return { payment, changeMsat, balanceMsat };
    });
}

/**
 * What a completed payment changed: an inbound amount is net of its fees, an outbound one is without them, and of a row
 * for information only its fees have left the wallet.
 */
function changeOf({ direction, amount, fees }: PaymentJson): bigint {
  const amountMsat = parseAmountMsat(amount ?? '0') ?? 0n;
  switch (direction) {
    case 'inbound':
      return amountMsat;
    case 'outbound':
      return -amountMsat - (parseAmountMsat(fees) ?? 0n);
    case 'info':
      return -(parseAmountMsat(fees) ?? 0n);
  }
}

/** The columns of the table. */
const CSV: Readonly<Record<string, (entry: Entry) => string | null>> = {
  completed_at: ({ payment }) => iso(payment.finalized_at),
  created_at: ({ payment }) => iso(payment.created_at),
  direction: ({ payment }) => payment.direction,
  kind: ({ payment }) => payment.kind,
  amount: ({ payment }) => payment.amount,
  fees: ({ payment }) => payment.fees,
  change: ({ changeMsat }) => signed(changeMsat),
  balance: ({ balanceMsat }) => signed(balanceMsat),
  note: ({ payment }) => payment.personal_note && harmless(payment.personal_note),
  message: ({ payment }) => payment.message && harmless(payment.message),
  payer_name: ({ payment }) => payment.payer_name && harmless(payment.payer_name),
  description: ({ payment }) => payment.description && harmless(payment.description),
  external_id: ({ payment }) => payment.external_id && harmless(payment.external_id),
  hash: ({ payment }) => payment.hash,
  txid: ({ payment }) => payment.txid,
  index: ({ payment }) => payment.index,
};

function csvLine(entry: Entry): string {
  return Object.values(CSV)
    .map((column) => quoted(printable(column(entry) ?? '')))
    .join(',');
}

/** Quotes a field as RFC 4180 asks for. */
function quoted(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Text of others must not be a formula to a spreadsheet, which takes it for one by its first character. */
function harmless(text: string): string {
  return /^[=+\-@]/.test(text) ? `'${text}` : text;
}

function jsonLine({ payment, changeMsat, balanceMsat }: Entry): string {
  const sums = { change: signed(changeMsat), balance: signed(balanceMsat) };
  return printableJson(JSON.stringify({ ...payment, ...sums }));
}

function iso(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

function signed(amountMsat: bigint): string {
  return amountMsat < 0n ? `-${formatAmountMsat(-amountMsat)}` : formatAmountMsat(amountMsat);
}
