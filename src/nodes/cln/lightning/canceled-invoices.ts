import { z } from 'zod';
import type { Observation } from '../../node-observations.ts';
import { keptRows } from '../../remote/place/kept-rows.ts';
import { endedPayment } from '../../shown-payment.ts';
import type { ClnWallet } from '../reads/wallet.ts';
import { inboundObservation } from '../words/translate.ts';
import { type ClnInvoice, invoiceShape } from '../words/wire.ts';

/** What canceled invoices were, since Core Lightning deletes them. Amounts are as the node gave them. */
const CANCELED = keptRows(
  'cln_canceled_invoice',
  z.object({ canceledAtMs: z.number(), invoice: z.unknown() }),
);

/** Keeps an invoice, as the node listed it, by its payment hash. Must be called before the node deletes it. */
export async function keepCanceled(
  wallet: ClnWallet,
  hash: string,
  listed: unknown,
  canceledAtMs: number,
): Promise<void> {
  await CANCELED.put(wallet, hash, { canceledAtMs, invoice: listed });
}

/** The canceled invoice of a hash, or null; it counts only where the node lists none any more. */
export async function canceledInvoice(
  wallet: ClnWallet,
  hash: string,
): Promise<Observation | null> {
  const row = await CANCELED.get(wallet, hash);
  return row && canceledObservation(invoiceShape.parse(row.invoice), row.canceledAtMs);
}

/** An open invoice as it is once it was canceled; null for an offer's invoice, which is no payment. */
export function canceledObservation(invoice: ClnInvoice, canceledAtMs: number): Observation | null {
  const seen = inboundObservation(invoice, canceledAtMs);
  return seen && asEnded(seen, 'canceled', canceledAtMs);
}

/** An open invoice that has ended unpaid. */
export function asEnded(
  seen: Observation,
  statusMsg: 'canceled' | 'expired',
  endedAtMs: number,
): Observation {
  return {
    ...seen,
    payment: endedPayment(seen.payment, { status: 'failed', statusMsg }, endedAtMs),
  };
}
