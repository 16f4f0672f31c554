import { base64, hex } from '@scure/base';
import { idOfIndex, type PaymentIndex } from '../../../model/payment-index.ts';
import type { CreatedInvoice, CreateHoldInvoiceCommand } from '../../node.ts';
import { hashInUse, noLongerHeld, notHeldYet, requireNoPartner } from '../../refusals.ts';
import { hasTerms } from '../../remote/orders/made-invoice.ts';
import { hasPublicChannel } from '../reads/channels.ts';
import { LND_PROTOCOL } from '../reads/protocol.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndHandle } from '../reads/wallet.ts';
import { refusalText } from '../words/refusal.ts';
import { addedHoldInvoiceShape, anyShape } from '../words/wire.ts';
import { ALREADY_EXISTS, created, lookUpInvoice, termsRequest } from './invoices.ts';

/** Creates an invoice for a hash; see `NodeHoldInvoices.create`. Throws `unsupported` for a partner fee. */
export async function createHoldInvoice(
  { rest, owner, wallet }: LndHandle,
  command: CreateHoldInvoiceCommand,
): Promise<CreatedInvoice> {
  requireNoPartner(LND_PROTOCOL, command.partnerPk);
  const { paymentHash } = command;
  const needsHints = !(await hasPublicChannel({ owner, wallet }));
  const hash = base64.encode(hex.decode(paymentHash));
  const request = { ...termsRequest(command, needsHints), hash };
  const make = async () => {
    const added = await rest.post('/v2/invoices/hodl', request, addedHoldInvoiceShape, {
      // LND makes one invoice of a hash.
      harmlessTwice: true,
    });
    return created(paymentHash, added, command);
  };
  const made = await make().catch((error: unknown) => {
    if (!refusalText(error).includes(ALREADY_EXISTS)) throw error;
    return earlierInvoice(owner, command, error);
  });
  wallet.local.followHold(paymentHash);
  return made;
}

/** The invoice that an earlier run of the request made. Throws `refused` where another request made it. */
async function earlierInvoice(
  owner: LndRest,
  command: CreateHoldInvoiceCommand,
  cause: unknown,
): Promise<CreatedInvoice> {
  const { paymentHash, again } = command;
  const first = again ? await lookUpInvoice(owner, paymentHash) : null;
  if (!first?.payment_request || !hasTerms(first.payment_request, command)) {
    throw hashInUse(cause);
  }
  return created(paymentHash, first, command);
}

/** Completes a held payment; see `NodeHoldInvoices.settle`. */
export async function settleHoldInvoice(
  { rest, owner }: Pick<LndHandle, 'rest' | 'owner'>,
  index: PaymentIndex,
  preimage: string,
): Promise<void> {
  const invoice = await lookUpInvoice(owner, idOfIndex(index).slice('ln_'.length));
  if (invoice?.state === 'SETTLED') return;
  if (invoice?.state === 'CANCELED') throw noLongerHeld();
  if (invoice?.state !== 'ACCEPTED') throw notHeldYet();
  const request = { preimage: base64.encode(hex.decode(preimage)) };
  try {
    await rest.post('/v2/invoices/settle', request, anyShape, { harmlessTwice: true });
  } catch (error) {
    const text = refusalText(error);
    if (text.includes('already settled')) return;
    if (text.includes('already canceled')) throw noLongerHeld(error);
    if (text.includes('still open')) throw notHeldYet(error);
    throw error;
  }
}
