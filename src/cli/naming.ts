import { z } from 'zod';
import { paymentJson } from '../model/payment.ts';
import { CallFailed } from './call-failed.ts';
import { argument, type Finding, flag, type Word } from './command.ts';
import { LAST, readPaymentName } from './inputs.ts';
import type { CliIo } from './io.ts';
import { PAYMENT_COLUMNS } from './terminal/payment-text.ts';
import { type Column, table } from './terminal/table.ts';

const MOST_SHOWN = 10;
/** Fewer characters of an id than these name nothing. */
const LEAST_TYPED = 4;

const ABOUT =
  'the payment: its id or index, at least 4 of the first or last characters of its id, or "last"';

/** The argument that names a payment (docs/decisions.md 102). */
export const paymentArgument: Word<string> = {
  ...argument('<payment>', ABOUT, readPaymentName),
  find: findPayment,
};

/** The {@link paymentArgument} of a command that does without one. */
export const optionalPaymentArgument: Word<string | undefined> = {
  ...argument('[payment]', ABOUT, readPaymentName),
  find: findPayment,
};

/** The flag that names the received payment which another one refunds. */
export const refundFlag: Word<string | undefined> = {
  ...flag('--refund-of <payment>', `refund ${ABOUT}`, readPaymentName),
  find: findPayment,
};

/** The flag that names the payment after which a list continues. */
export const afterFlag: Word<string | undefined> = {
  ...flag('--after <payment>', `continue the list after ${ABOUT}`, readPaymentName),
  find: findPayment,
};

/** Whether characters that were typed are the first or last of an id. */
export function namesId(typed: string, id: string | undefined): boolean {
  const part = typed.toLowerCase();
  if (id === undefined || part.length < LEAST_TYPED) return false;
  return id.startsWith(part) || id.endsWith(part);
}

/** Returns the one that was meant. Throws {@link CallFailed} unless it is one, with `none` or a table. */
export function theOne<Row>(
  io: CliIo,
  fitting: readonly Row[],
  { columns, none, typed }: { columns: readonly Column<Row>[]; none: string; typed: string },
): Row {
  const [first, second] = fitting;
  if (first === undefined) throw new CallFailed(none);
  if (second === undefined) return first;
  for (const line of table(columns, fitting)) io.stderr(line);
  throw new CallFailed(`"${typed}" fits several: name one of the above by more of it.`);
}

/** Returns the index of a payment that a person named. The cache is synced first, so that none is missed. */
export async function findPayment(typed: string, { io, ask }: Finding): Promise<string> {
  if (typed.includes('-')) return typed;
  const which = typed === LAST ? { limit: 1 } : { id_part: typed, limit: MOST_SHOWN };
  await ask((sidecar) => sidecar.syncPayments(), z.unknown(), 'Reading payments from the node');
  const { value } = await ask(
    (sidecar) => sidecar.listPayments({ filter: 'all', ...which }),
    z.object({ payments: z.array(paymentJson()) }),
  );
  const { index } = theOne(io, value.payments, {
    columns: PAYMENT_COLUMNS,
    none:
      typed === LAST
        ? 'There is no payment yet.'
        : `No payment has an id that begins or ends with "${typed}": "wallet-sidecar payments" shows them.`,
    typed,
  });
  return index;
}
