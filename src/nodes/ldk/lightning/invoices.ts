import { hex } from '@scure/base';
import { paymentHashOf } from '../../../codecs/preimage.ts';
import { isApiError, refused } from '../../../model/errors.ts';
import { idOfIndex, type PaymentIndex } from '../../../model/payment-index.ts';
import type { CreatedInvoice, CreateHoldInvoiceCommand, CreateInvoiceCommand } from '../../node.ts';
import {
  hashInUse,
  noLongerHeld,
  notCancelable,
  notHeldYet,
  requireNoPartner,
} from '../../refusals.ts';
import { createdInvoice, hasTerms } from '../../remote/orders/made-invoice.ts';
import { receivableMsat } from '../channels/channels.ts';
import { LDK, type LdkWallet } from '../process/wallet.ts';
import { type LdkRow, shapes } from '../words/words.ts';

/** Creates an invoice; see `WalletNode.createInvoice`. Throws `unsupported` for a partner fee. */
export async function createInvoice(
  wallet: LdkWallet,
  command: CreateInvoiceCommand,
): Promise<CreatedInvoice> {
  requireNoPartner(LDK, command.partnerPk);
  const preimage = command.preimage ?? hex.encode(wallet.random(32));
  const made = await make(wallet, command, { hash: paymentHashOf(preimage), preimage });
  return created(made, command);
}

/** Creates an invoice for a hash; see `NodeHoldInvoices.create`. */
export async function createHoldInvoice(
  wallet: LdkWallet,
  command: CreateHoldInvoiceCommand,
): Promise<CreatedInvoice> {
  requireNoPartner(LDK, command.partnerPk);
  const sent = await wallet.helper.call('row', { hash: command.paymentHash }, shapes().rowOrNull);
  if (sent !== null) throw hashInUse();
  const made = await make(wallet, command, { hash: command.paymentHash, preimage: null });
  const isSame = command.again && made.row.bolt11 !== null && hasTerms(made.row.bolt11, command);
  if (!made.first && !isSame) throw hashInUse();
  return created(made, command);
}

interface Made {
  readonly row: LdkRow;
  readonly secret: string;
  readonly first: boolean;
}

async function make(
  wallet: LdkWallet,
  command: Omit<CreateInvoiceCommand, 'preimage'>,
  names: { readonly hash: string; readonly preimage: string | null },
): Promise<Made> {
  const { amountMsat, description, descriptionHash, expirationSecs } = command;
  const maxLspFeeMsat =
    wallet.lsp === null || (await fits(wallet, amountMsat)) ? null : wallet.lsp.maxFeeMsat;
  return wallet.helper.call(
    'create_invoice',
    {
      ...names,
      amount_msat: amountMsat,
      description: descriptionHash === null ? (description ?? '') : null,
      description_hash: descriptionHash?.hash ?? null,
      expiry_secs: expirationSecs,
      max_lsp_fee_msat: maxLspFeeMsat,
    },
    shapes().invoice,
  );
}

/** Whether the channels can receive the amount now. Without an amount, whether they can receive anything. */
async function fits(wallet: LdkWallet, amountMsat: bigint | null): Promise<boolean> {
  const mostMsat = await receivableMsat(wallet.helper);
  return mostMsat > 0n && (amountMsat ?? 0n) <= mostMsat;
}

function created(
  { row, secret }: Made,
  command: Omit<CreateInvoiceCommand, 'preimage'>,
): CreatedInvoice {
  const { hash, bolt11, lsp_fee_msat } = row;
  if (hash === null || bolt11 === null) throw hashInUse();
  // What the LSP takes for a channel is known before anybody pays.
  const feesMsat = lsp_fee_msat ?? 0n;
  const made = { paymentHash: hash, invoice: bolt11, paymentSecret: secret, feesMsat };
  return {
    ...createdInvoice(made, command),
    ...(lsp_fee_msat === null ? {} : { lspFeeMsat: lsp_fee_msat }),
  };
}

/** Cancels a pending inbound invoice; see `WalletNode.cancelInvoice`. */
export async function cancelInvoice({ helper }: LdkWallet, index: PaymentIndex): Promise<void> {
  const row = await invoiceRow({ helper }, index);
  if (row === null || row.bolt11 === null || row.state === 'completed') throw notCancelable();
  if (row.state === 'failed') return;
  try {
    await helper.call('cancel_invoice', { hash: row.hash }, shapes().row);
  } catch (error) {
    if (!isApiError(error, 'refused')) throw error;
    throw refused('The invoice was paid before it could be canceled.', error);
  }
}

/** Completes a held payment; see `NodeHoldInvoices.settle`. */
export async function settleHoldInvoice(
  { helper }: LdkWallet,
  index: PaymentIndex,
  preimage: string,
): Promise<void> {
  const row = await invoiceRow({ helper }, index);
  if (row?.state === 'completed') return;
  if (row?.state === 'failed') throw noLongerHeld();
  if (row?.state !== 'held') throw notHeldYet();
  await helper.call('settle_invoice', { preimage }, shapes().row);
}

function invoiceRow({ helper }: Pick<LdkWallet, 'helper'>, index: PaymentIndex) {
  const id = idOfIndex(index);
  if (!id.startsWith('ln_')) return null;
  return helper.call('row', { key: `in:${id.slice('ln_'.length)}` }, shapes().rowOrNull);
}
