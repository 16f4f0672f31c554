import { hex } from '@scure/base';
import { decodeBolt11 } from '../../../codecs/bolt11/index.ts';
import { paymentHashOf } from '../../../codecs/preimage.ts';
import { formatAmountMsat } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { OwnWords, Payment } from '../../../model/payment.ts';
import {
  idOfIndex,
  type PaymentIndex,
  paymentId,
  paymentIndex,
} from '../../../model/payment-index.ts';
import type { CreatedInvoice, CreateInvoiceCommand } from '../../node-invoices.ts';
import type { Observation } from '../../node-observations.ts';
import { notCancelable, requireNoPartner, unsupportedBy } from '../../refusals.ts';
import { readAs } from '../../remote/calls/answer.ts';
import { CLN_PROTOCOL } from '../reads/protocol.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnHandle, ClnOwned, ClnWallet } from '../reads/wallet.ts';
import { labelOf } from '../words/labels.ts';
import { CODES, codeOf } from '../words/refusal.ts';
import { requireDescription } from '../words/texts.ts';
import { inboundObservation } from '../words/translate.ts';
import {
  type ClnInvoice,
  createdInvoiceShape,
  deletedInvoiceShape,
  invoiceShape,
  invoicesShape,
} from '../words/wire.ts';
import { canceledInvoice, canceledObservation, keepCanceled } from './canceled-invoices.ts';

const PREIMAGE_BYTES = 32;
/** Core Lightning tells amounts as numbers of JSON, which hold this much exactly. A greater row would not be read. */
const MOST_MSAT = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Creates an invoice. The node keeps its index as its label, and so its `created_at` is the command's. With a preimage
 * that was used before, the first invoice is returned, which is looked up with `owner`'s rune. Throws `refused` for an
 * amount that could not be read again, and `unsupported` for a partner fee, for a description that the node does not
 * read, and for a description hash without its text, since the node hashes the text by itself.
 */
export async function createInvoice(
  { rpc, owner, wallet }: ClnHandle,
  command: CreateInvoiceCommand,
): Promise<CreatedInvoice> {
  requireSupported(command);
  const preimage = command.preimage ?? hex.encode(wallet.random(PREIMAGE_BYTES));
  const hash = paymentHashOf(preimage);
  const first = command.preimage && (await canceledBefore({ owner, wallet }, hash));
  if (first) return created(first, command);
  const label = labelOf(paymentIndex(command.createdAtMs, paymentId('ln', hash)));
  const { amountMsat, description, descriptionHash, expirationSecs: expiry } = command;
  const request = {
    amount_msat: amountMsat === null ? 'any' : `${amountMsat}msat`,
    label,
    description: descriptionHash?.text ?? description ?? '',
    ...(descriptionHash === null ? {} : { deschashonly: true }),
    expiry,
    preimage,
  };
  try {
    const made = await rpc.write('invoice', request, createdInvoiceShape, {
      // The node makes one invoice of a preimage.
      harmlessTwice: true,
    });
    const amount = amountMsat === null ? {} : { amount_msat: amountMsat };
    const row = { ...made, ...amount, label, payment_hash: hash, status: 'unpaid' as const };
    return created(observed({ ...row, created_index: 0, updated_index: 0 }, wallet), command);
  } catch (error) {
    const code = codeOf(error);
    if (code !== CODES.hashTaken && code !== CODES.labelTaken) throw error;
    const invoice = (await listed(owner, hash))?.invoice;
    if (invoice?.bolt11 === undefined) throw error;
    return created(observed(invoice, wallet), command);
  }
}

function requireSupported({
  partnerPk,
  amountMsat,
  description,
  descriptionHash,
}: Pick<
  CreateInvoiceCommand,
  'partnerPk' | 'amountMsat' | 'description' | 'descriptionHash'
>): void {
  requireDescription(descriptionHash?.text ?? description);
  if (amountMsat !== null && amountMsat > MOST_MSAT) {
    throw refused(
      `The largest invoice on Core Lightning is of ${formatAmountMsat(MOST_MSAT)} sats: ask for less, or make one without an amount.`,
    );
  }
  requireNoPartner(CLN_PROTOCOL, partnerPk);
  if (descriptionHash?.text === null) {
    throw unsupportedBy(
      'cln',
      'Core Lightning makes no invoice of a hash alone: give the description itself, or the `request` of a paywall.',
    );
  }
}

/** The invoice of an earlier run that was canceled since. Another one of its preimage must not be payable. */
async function canceledBefore(node: ClnOwned, hash: string): Promise<Observation | null> {
  const canceled = await canceledInvoice(node.wallet, hash);
  return canceled !== null && (await listed(node.owner, hash)) === null ? canceled : null;
}

function created(
  { payment }: Observation,
  { personalNote, externalId, message }: Pick<CreateInvoiceCommand, 'message' | keyof OwnWords>,
): CreatedInvoice {
  const invoice = payment.invoice ?? '';
  const read = decodeBolt11(invoice, { verifySignature: false });
  const { paymentHash, paymentSecret, expiresAtMs } = read;
  const noted: Payment = { ...payment, personalNote, externalId, message };
  return { payment: noted, invoice, paymentHash, paymentSecret, expiresAtMs };
}

/** The observation of an invoice that no offer made. */
function observed(invoice: ClnInvoice, wallet: ClnWallet): Observation {
  const seen = inboundObservation(invoice, wallet.clock.now());
  if (seen === null) throw refused('The invoice belongs to an offer: create another one.');
  return seen;
}

interface ListedInvoice {
  readonly row: unknown;
  readonly invoice: ClnInvoice;
}

/** Whether the node lists an invoice of the payment hash, whatever it says. */
export async function isListed(rpc: ClnRpc, hash: string): Promise<boolean> {
  return (await listedRow(rpc, hash)) !== undefined;
}

async function listedRow(rpc: ClnRpc, hash: string): Promise<unknown> {
  const { invoices } = await rpc.list('listinvoices', { payment_hash: hash }, invoicesShape);
  return invoices[0];
}

/** The invoice of a payment hash, or null. Throws `unreadable` when it cannot be read. */
async function listed(owner: ClnRpc, hash: string): Promise<ListedInvoice | null> {
  const row = await listedRow(owner, hash);
  if (row === undefined) return null;
  return { row, invoice: readAs('Core Lightning', invoiceShape, row) };
}

/** The incoming payment of a hash, or null. A canceled invoice is failed, although the node has deleted it. */
export async function incomingPayment(node: ClnOwned, hash: string): Promise<Observation | null> {
  const found = await listed(node.owner, hash);
  if (found === null) return canceledInvoice(node.wallet, hash);
  return inboundObservation(found.invoice, node.wallet.clock.now());
}

/**
 * Cancels a pending inbound invoice; see `WalletNode.cancelInvoice`. Core Lightning deletes it, and does not say in its
 * list that it was there, so the change is published from here.
 */
export async function cancelInvoice(
  { rpc, owner, wallet }: ClnHandle,
  index: PaymentIndex,
): Promise<void> {
  const id = idOfIndex(index);
  if (!id.startsWith('ln_')) throw notCancelable();
  const hash = id.slice('ln_'.length);
  const found = await listed(owner, hash);
  const nowMs = wallet.clock.now();
  if (found?.invoice.status === 'unpaid') {
    const canceled = canceledObservation(found.invoice, nowMs);
    if (canceled?.payment.rail !== 'invoice') throw notCancelable();
    await keepCanceled(wallet, hash, found.row, nowMs);
    if (await deleteUnpaid(rpc, found.invoice)) {
      wallet.local.publish([canceled]);
      return;
    }
  }
  const after = await incomingPayment({ owner, wallet }, hash);
  if (after?.payment.status !== 'failed') throw notCancelable();
  wallet.local.publish([after]);
}

/** Deletes an invoice. False where it is not open any more. */
async function deleteUnpaid(
  rpc: ClnRpc,
  { label, payment_hash }: Pick<ClnInvoice, 'label' | 'payment_hash'>,
): Promise<boolean> {
  const request = { label, status: 'unpaid' };
  try {
    // An invoice that is told as canceled and could be paid all the same would be money that nobody is told of.
    await rpc.write('delinvoice', request, deletedInvoiceShape(payment_hash), {
      harmlessTwice: true,
    });
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === CODES.invoiceNotFound) return true;
    if (code === CODES.invoiceStatus) return false;
    throw error;
  }
}
