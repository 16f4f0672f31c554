import { isBolt12InvoiceExpired } from '../../../codecs/bolt12/index.ts';
import { paymentHashOf } from '../../../codecs/preimage.ts';
import { keptDescription } from '../../../model/description.ts';
import { ownInvoice, ownNode, refused } from '../../../model/errors.ts';
import { type Payment, type SendWords, sendWords } from '../../../model/payment.ts';
import type { PaymentIndex } from '../../../model/payment-index.ts';
import type { PayFetchedCommand, PayInvoiceCommand, PaySpontaneousCommand } from '../../node.ts';
import { invoiceOfAnother } from '../../refusals.ts';
import { claimFetched } from '../offers/offers.ts';
import { findPayment, insertPayment, madePayment } from '../world/payments.ts';
import { outsideKeys, walletOfNode } from '../world/wallets.ts';
import type { World } from '../world/world.ts';
import { decide, FEE_TOO_HIGH } from './decisions.ts';
import { routingFeeMsat } from './fees.ts';
import { reserve } from './htlcs.ts';
import { findUnpaidInvoice, insertInvoice } from './invoice-rows.ts';

/**
 * Records the payment as pending and takes its money from the channels, in one transaction; {@link decide} then ends
 * it. A repeat of its index returns the first payment. A payment of the same hash that is pending or completed is
 * returned as well, because a routing node that knows the preimage could keep a second payment of the hash. Throws
 * `refused`, with nothing changed, when the channels cannot pay it.
 */
export function startInvoicePayment(
  world: World,
  userPk: string,
  command: PayInvoiceCommand,
): Payment {
  const { text, paymentHash, description, expiresAtMs, network } = command.invoice;
  return world.transact(() => {
    const earlier = earlierAttempt(world, userPk, command.index);
    if (earlier !== null) return earlier;
    if (network !== 'regtest')
      throw refused(
        `The invoice is for ${network} and the sandbox is on regtest; ask for an invoice on regtest.`,
      );
    if (expiresAtMs <= world.clock.now())
      throw refused('The invoice has expired: ask the receiver for a new one.');
    return start(world, userPk, command, {
      rail: 'invoice',
      hash: paymentHash,
      invoice: text,
      description: keptDescription(description),
      message: command.message,
      expiresAtMs,
    });
  });
}

/**
 * Does with the fetched invoice of an offer what {@link startInvoicePayment} does. A repeat of the id returns the first
 * payment. Throws `refused` also when the invoice is another payment's.
 */
export function startFetchedPayment(
  world: World,
  userPk: string,
  command: PayFetchedCommand,
): Payment {
  const { index, invoice } = command;
  return world.transact(() => {
    const first = madePayment(world, userPk, index);
    if (first !== null) return first;
    if (isBolt12InvoiceExpired(invoice, Math.floor(world.clock.now() / 1000))) {
      throw refused('The invoice for the offer has expired; pay the offer again.');
    }
    const offerId = claimFetched(world, { userPk, index }, invoice.paymentHash);
    if (offerId === null) throw invoiceOfAnother();
    return start(
      world,
      userPk,
      { ...command, amountMsat: invoice.amountMsat },
      {
        rail: 'offer',
        hash: invoice.paymentHash,
        offerId,
        description: keptDescription(invoice.description),
        message: invoice.payerNote,
      },
    );
  });
}

/** As {@link startInvoicePayment}, without an invoice: the receiving node learns the preimage with it. */
export function startSpontaneousPayment(
  world: World,
  userPk: string,
  command: PaySpontaneousCommand,
): Payment {
  const { nodePk, preimage, message } = command;
  const paymentHash = paymentHashOf(preimage);
  return world.transact(() => {
    const earlier = earlierAttempt(world, userPk, command.index);
    if (earlier !== null) return earlier;
    const receiver = walletOfNode(world, nodePk);
    if (receiver === userPk) throw ownNode();
    if (receiver !== null || nodePk === outsideKeys(world).nodePk) {
      // This is what lets the node receive it.
      insertInvoice(world, {
        paymentHash,
        userPk: receiver,
        index: null,
        preimage,
        behavior: 'settle',
        expiresAtMs: Number.MAX_SAFE_INTEGER,
        message,
      });
    }
    return start(world, userPk, command, { rail: 'spontaneous', hash: paymentHash, message });
  });
}

type Outgoing = Pick<
  PayInvoiceCommand,
  'index' | 'createdAtMs' | 'amountMsat' | 'maxFeeMsat' | keyof SendWords
>;

/** The earlier payment that a repeat returns: that of the same index, or one of the same hash that has not failed. */
function earlierAttempt(world: World, userPk: string, index: PaymentIndex): Payment | null {
  const latest = madePayment(world, userPk, index);
  if (latest === null) return null;
  if (latest.direction === 'inbound') throw ownInvoice();
  if (latest.index === index) return latest;
  return findPayment(world, userPk, index) ?? (latest.status === 'failed' ? null : latest);
}

function start(
  world: World,
  userPk: string,
  outgoing: Outgoing,
  known: Pick<Payment, 'rail' | 'message'> &
    Partial<Pick<Payment, 'invoice' | 'offerId' | 'description' | 'expiresAtMs'>> & {
      readonly hash: string;
    },
): Payment {
  const { index, createdAtMs, amountMsat, maxFeeMsat } = outgoing;
  const invoice = findUnpaidInvoice(world, known.hash);
  const feesMsat = invoice?.userPk ? 0n : routingFeeMsat(amountMsat);
  const affordable = feesMsat <= maxFeeMsat;
  reserve(world, userPk, index, amountMsat + (affordable ? feesMsat : maxFeeMsat));
  const recorded = insertPayment(world, userPk, {
    index,
    createdAtMs,
    amountMsat,
    ...sendWords(outgoing),
    ...known,
    direction: 'outbound',
    statusMsg: affordable ? 'pending' : FEE_TOO_HIGH,
    feesMsat: affordable ? feesMsat : 0n,
  });
  // The receiver decides in a transaction of its own, as on a real network. After a crash in between, the next start
  // calls `advance`.
  world.afterCommit(() => queueMicrotask(() => void decide(world, userPk, index)));
  return recorded;
}
