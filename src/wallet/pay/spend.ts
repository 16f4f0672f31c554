import { z } from 'zod';
import { decodeAddress } from '../../codecs/address.ts';
import { decodeBolt11 } from '../../codecs/bolt11/index.ts';
import {
  type Bolt12Invoice,
  decodeInvoice,
  decodeOffer,
  type Offer,
} from '../../codecs/bolt12/index.ts';
import { once } from '../../lib/once.ts';
import type { Payment } from '../../model/payment.ts';
import type {
  PayInvoiceCommand,
  PayOfferCommand,
  PayOnchainCommand,
  PaySpontaneousCommand,
  SendQuestion,
  SignedSend,
} from '../../nodes/node.ts';
import type { Spend as SpendRow, SpendState } from '../../store/ports.ts';

/** What a repeat of each rail sends again. */
type Repeatable =
  | {
      readonly rail: 'invoice';
      /** Null in rows of version 0.2, which kept no fee cap: such a payment is only asked about. */
      readonly order: (FeeCap & Pick<PayInvoiceCommand, 'invoice' | 'amountMsat'>) | null;
    }
  | {
      readonly rail: 'offer';
      /** Null in rows of version 0.2, as the fee cap is. */
      readonly fetched: Bolt12Invoice | null;
      readonly feeCap: FeeCap | null;
      /** What a node is asked for that pays an offer in one step; null where an invoice was fetched. */
      readonly order: (FeeCap & Pick<PayOfferCommand, 'offer' | 'amountMsat'>) | null;
    }
  | {
      readonly rail: 'spontaneous';
      readonly order: SpontaneousTerms & Pick<PaySpontaneousCommand, 'amountMsat'>;
    }
  | {
      readonly rail: 'onchain';
      readonly signed: SignedSend;
      readonly order: OnchainOrder;
    };

/** What an on-chain payment sends where, and how fast. */
type OnchainOrder = Pick<PayOnchainCommand, 'address' | 'priority' | 'amountMsat'>;

/** A spend whose request may have left, with exactly what its repeat needs. */
export type Spend = Repeatable &
  Pick<SpendRow, 'payment' | 'afterAttempt' | 'attempt'> & {
    readonly state: Exclude<SpendState, 'begun' | 'awaiting'>;
  };

/** A spend's row does not have what its repeat needs. The message says what is missing, and repeats none of it. */
class UnreadableSpend extends Error {
  override readonly name = 'UnreadableSpend';
}

/** Returns what is sent, as the column `plan` of the spend's row holds it. */
export function planText(sent: FeeCap | OfferTerms | SpontaneousTerms | SignedSend): string {
  return JSON.stringify(sent, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}

/** Reads a spend from its row, also from one of version 0.2. Throws {@link UnreadableSpend}. */
export function readSpend(row: SpendRow): Spend {
  const { payment, state, afterAttempt, attempt } = row;
  if (state === 'begun' || state === 'awaiting') throw new UnreadableSpend('It was not asked for.');
  return { payment, state, afterAttempt, attempt, ...repeatable(row) };
}

function repeatable(row: SpendRow): Repeatable {
  const { payment, plan, fetchedInvoice } = row;
  const { rail } = payment;
  const amountMsat = () => part('amount', () => needed(payment.amountMsat));
  switch (rail) {
    case 'invoice': {
      if (plan === null) return { rail, order: null };
      const invoice = part('invoice', () => decodeBolt11(needed(payment.invoice)));
      return { rail, order: { ...planned(row, feeCap()), invoice, amountMsat: amountMsat() } };
    }
    case 'offer': {
      const terms = plan === null ? null : planned(row, anyTerms());
      const { offer } = terms ?? {};
      return {
        rail,
        fetched:
          fetchedInvoice === null
            ? null
            : part('fetched invoice', () => decodeInvoice(fetchedInvoice)),
        feeCap: terms,
        order:
          terms && offer !== undefined
            ? { ...terms, offer: part('offer', () => decodeOffer(offer)), amountMsat: amountMsat() }
            : null,
      };
    }
    case 'spontaneous':
      return { rail, order: { ...planned(row, spontaneousTerms()), amountMsat: amountMsat() } };
    case 'onchain':
      return { rail, signed: planned(row, signedSend()), order: onchainOrder(payment) };
  }
}

/** Reads what is to be signed when an on-chain payment is approved. Throws {@link UnreadableSpend}. */
export function readOnchainOrder(row: SpendRow): OnchainOrder & FeeCap {
  const { maxFeeMsat } = planned(row, feeCap());
  return { ...onchainOrder(row.payment), maxFeeMsat };
}

/**
 * Reads the highest fee of a spend that waits, in millisatoshis, and who is paid: hex, null on chain. Throws
 * {@link UnreadableSpend}.
 */
export function readTerms(row: SpendRow): Terms {
  const { maxFeeMsat, nodePk, offer } = planned(row, anyTerms());
  const { rail, invoice } = row.payment;
  const paidPk = {
    invoice: () => decodeBolt11(needed(invoice)).payeePubkey,
    offer: () =>
      offer === undefined
        ? decodeInvoice(needed(row.fetchedInvoice)).nodeId
        : issuerOf(decodeOffer(offer)),
    spontaneous: () => needed(nodePk ?? null),
    onchain: () => null,
  };
  return { maxFeeMsat, nodePk: part('recipient', paidPk[rail]) };
}

/** What a spend that waits may cost in fees, and who is paid. */
interface Terms extends FeeCap {
  readonly nodePk: string | null;
}

/** The key that signs an offer's invoices. */
function issuerOf({ issuerId, pathsLastBlindedNodeIds }: Offer): string {
  return needed(issuerId ?? pathsLastBlindedNodeIds[0] ?? null);
}

function onchainOrder(payment: Payment): OnchainOrder {
  const address = part('address', () => decodeAddress(needed(payment.address)));
  const amountMsat = part('amount', () => needed(payment.amountMsat));
  return { address, priority: payment.priority ?? 'normal', amountMsat };
}

/** What a repeat of a Lightning payment needs beside the payment itself. */
export type FeeCap = z.infer<ReturnType<typeof feeCap>>;

/** {@link FeeCap} of an offer that the node pays in one step. */
export type OfferTerms = z.infer<ReturnType<typeof offerTerms>>;

/** {@link FeeCap} of a payment without an invoice. */
export type SpontaneousTerms = z.infer<ReturnType<typeof spontaneousTerms>>;

const digits = once(() => z.string().regex(/^\d+$/));
const hexText = once(() => z.string().regex(/^([0-9a-f]{2})+$/));
const feeCap = once(() => z.object({ maxFeeMsat: digits().transform(BigInt) }));
const spontaneousTerms = once(() => feeCap().extend({ nodePk: hexText(), preimage: hexText() }));
const offerTerms = once(() => feeCap().extend({ offer: z.string() }));
const anyTerms = once(() =>
  feeCap().extend({ nodePk: hexText().optional(), offer: z.string().optional() }),
);
const signedSend = once(() =>
  z.object({
    txid: hexText(),
    txHex: hexText(),
    feeMsat: digits(),
    locks: z.array(z.object({ id: z.string(), outpoint: z.string() })),
  }),
);

function planned<T>({ plan }: SpendRow, schema: z.ZodType<T>): T {
  return part('plan', () => schema.parse(JSON.parse(plan ?? '')));
}

function part<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new UnreadableSpend(`Its ${name} is missing or cannot be read.`);
  }
}

function needed<T>(value: T | null): T {
  if (value === null) throw new TypeError('It is missing.');
  return value;
}

/** What the node is asked about a spend. */
export function questionOf(spend: Spend): SendQuestion {
  const { payment, afterAttempt, attempt } = spend;
  return {
    payment,
    afterAttempt,
    attempt,
    signed: spend.rail === 'onchain' ? spend.signed : null,
    fetched: spend.rail === 'offer' ? spend.fetched : null,
  };
}
