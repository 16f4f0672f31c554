import { hex } from '@scure/base';
import { type Bolt11Fields, decodeBolt11, encodeBolt11 } from '../../../codecs/bolt11/index.ts';
import { paymentHashOf } from '../../../codecs/preimage.ts';
import { keptDescription } from '../../../model/description.ts';
import { refused } from '../../../model/errors.ts';
import { type PaymentIndex, paymentId, paymentIndex } from '../../../model/payment-index.ts';
import type { CreatedInvoice, CreateHoldInvoiceCommand, CreateInvoiceCommand } from '../../node.ts';
import { hashInUse } from '../../refusals.ts';
import { findPayment, insertPayment, latestPayment, PAYMENT_KEY } from '../world/payments.ts';
import { firstRow } from '../world/rows.ts';
import { walletKeys } from '../world/wallets.ts';
import type { World } from '../world/world.ts';
import { partnerFeeMsat } from './fees.ts';
import { insertInvoice } from './invoice-rows.ts';

/** Feature bits of the invoices: var_onion_optin and payment_secret (both required), and basic_mpp. */
const INVOICE_FEATURES: readonly number[] = [8, 14, 17];

/**
 * Writes, signs and stores an invoice of a wallet, with its pending payment. With a preimage of an earlier invoice of
 * the wallet, that invoice is returned with its payment as it is now. Throws `refused` when the preimage belongs to
 * something else.
 */
export function createInvoice(
  world: World,
  userPk: string,
  command: CreateInvoiceCommand,
): CreatedInvoice {
  const earlier = command.preimage === null ? null : madeWith(world, userPk, command.preimage);
  if (earlier !== null) return earlier;
  const preimage = command.preimage ?? hex.encode(world.random(32));
  return issue(world, userPk, command, { preimage, paymentHash: paymentHashOf(preimage) });
}

/**
 * {@link createInvoice} for a hash whose preimage is not known here. Throws `refused` when this world has an invoice or
 * payment of the hash, unless the command allows to return the wallet's own.
 */
export function createHoldInvoice(
  world: World,
  userPk: string,
  command: CreateHoldInvoiceCommand,
): CreatedInvoice {
  const { paymentHash } = command;
  const earlier = madeFor(world, userPk, paymentHash);
  if (earlier === null && latestPayment(world, userPk, paymentId('ln', paymentHash)) === null) {
    return issue(world, userPk, command, { preimage: null, paymentHash });
  }
  if (earlier !== null && earlier !== 'foreign' && command.again) return earlier;
  throw hashInUse();
}

function issue(
  world: World,
  userPk: string,
  command: Omit<CreateInvoiceCommand, 'preimage'>,
  { preimage, paymentHash }: { readonly preimage: string | null; readonly paymentHash: string },
): CreatedInvoice {
  const { amountMsat, createdAtMs, partnerPk } = command;
  if (amountMsat !== null && partnerFeeMsat(command, amountMsat) >= amountMsat) {
    throw refused(
      'The partner fee would take the whole amount: lower the fee or raise the amount.',
    );
  }
  const signed = signInvoice(world, walletKeys(world, userPk).nodeSecretKey, {
    ...command,
    descriptionHash: command.descriptionHash?.hash ?? null,
    paymentHash,
  });
  const { invoice, paymentSecret, expiresAtMs } = signed;
  const index = paymentIndex(createdAtMs, paymentId('ln', paymentHash));
  const payment = world.transact(() => {
    insertInvoice(world, {
      paymentHash,
      userPk,
      index,
      preimage: preimage ?? '',
      behavior: preimage === null ? 'hold' : 'settle',
      expiresAtMs,
    });
    return insertPayment(world, userPk, {
      index,
      rail: 'invoice',
      direction: 'inbound',
      statusMsg: 'invoice generated',
      createdAtMs,
      hash: paymentHash,
      amountMsat,
      invoice,
      personalNote: command.personalNote,
      externalId: command.externalId,
      price: command.price ?? null,
      description: keptDescription(command.description),
      message: command.message,
      expiresAtMs,
      partnerPk,
      partnerPropFeePpm: command.partnerPropFeePpm,
      partnerBaseFeeMsat: command.partnerBaseFeeMsat,
    });
  });
  return { payment, invoice, paymentHash, paymentSecret, expiresAtMs };
}

/** The wallet's invoice of a preimage, or null. Throws `refused` when the preimage belongs to something else. */
function madeWith(world: World, userPk: string, preimage: string): CreatedInvoice | null {
  const earlier = madeFor(world, userPk, paymentHashOf(preimage));
  if (earlier !== 'foreign') return earlier;
  throw refused('This preimage belongs to another invoice: choose a new one.');
}

/** The wallet's invoice of a hash, null where this world has none, or `foreign` where the hash is of something else. */
function madeFor(
  world: World,
  userPk: string,
  paymentHash: string,
): CreatedInvoice | 'foreign' | null {
  const row = firstRow<{ userPk: string | null; index: PaymentIndex | null }>(
    world,
    `SELECT ${PAYMENT_KEY} FROM invoices WHERE payment_hash = ?`,
    paymentHash,
  );
  if (row === null) return null;
  const { index } = row;
  const payment =
    row.userPk === userPk && index !== null ? findPayment(world, userPk, index) : null;
  if (payment?.invoice == null) return 'foreign';
  const { paymentSecret, expiresAtMs } = decodeBolt11(payment.invoice, { verifySignature: false });
  return { payment, invoice: payment.invoice, paymentHash, paymentSecret, expiresAtMs };
}

/** A signed invoice, with the data that only its receiver has. */
type SignedInvoice = Omit<CreatedInvoice, 'payment' | 'paymentHash'>;

/** What an invoice says. */
export interface InvoiceTerms
  extends Pick<CreateInvoiceCommand, 'amountMsat' | 'description' | 'expirationSecs'> {
  readonly descriptionHash: string | null;
}

/** Signs an invoice. Draws the payment secret. Stores nothing. */
export function signInvoice(
  world: World,
  nodeSecretKey: Uint8Array,
  terms: InvoiceTerms & { readonly createdAtMs: number; readonly paymentHash: string },
): SignedInvoice {
  const paymentSecret = hex.encode(world.random(32));
  const timestampSecs = Math.floor(terms.createdAtMs / 1000);
  const { descriptionHash, expirationSecs, paymentHash } = terms;
  const fields: Bolt11Fields = {
    network: 'regtest',
    amountMsat: terms.amountMsat,
    timestampSecs,
    paymentHash,
    paymentSecret,
    ...(descriptionHash === null ? { description: terms.description ?? '' } : { descriptionHash }),
    expirySecs: expirationSecs,
    features: INVOICE_FEATURES,
  };
  const invoice = encodeBolt11(fields, nodeSecretKey);
  const expiresAtMs = (timestampSecs + expirationSecs) * 1000;
  return { invoice, paymentSecret, expiresAtMs };
}
