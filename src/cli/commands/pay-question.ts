import { decodeLnurl } from '../../codecs/lnurl.ts';
import { formatAmountMsat, parseAmountMsat } from '../../model/amount.ts';
import type { PayableJson } from '../../model/analysis.ts';
import { type FeePolicy, feeCapMsat } from '../../model/fee-cap.ts';
import type { Price } from '../../model/prices/price.ts';
import { costLines } from '../terminal/cost.ts';

/** What a person agrees to before a payment. The request holds these terms, so that it cannot cost more. */
export interface Agreed {
  /** In sats; null sends everything. */
  readonly amount: string | null;
  /** The most that fees may cost, in sats; null where nothing bounds them. */
  readonly maxFee: string | null;
  /** The price that is paid, of which the amount is the worth about; null where the amount is exact. */
  readonly price: Price | null;
}

interface Asked {
  /** In sats; of a price, its worth. */
  readonly amount: string | undefined;
  readonly price: Price | undefined;
  readonly maxFee: string | undefined;
  readonly all: boolean;
}

/** How much dearer than estimated a transaction may be, as its fee changes between estimate and sending. */
const ONCHAIN_HEADROOM = 2n;

/**
 * Returns the terms to agree on. Without --max-fee a Lightning payment has the cap of the settings, and a transaction
 * twice its estimate. An offer in a currency has its own price, unless an amount is given.
 */
export function agreedTerms(payable: PayableJson, asked: Asked, policy: FeePolicy): Agreed {
  const named = asked.amount ?? payable.amount;
  const own = payable.kind === 'offer' && named === null ? payable.price : null;
  const amount = asked.all ? null : (named ?? (own && payable.min_amount));
  const maxFee = asked.maxFee ?? defaultCap(payable, amount, policy);
  return { amount, maxFee, price: asked.price ?? own };
}

function defaultCap(
  { kind, fee_estimate, amount: priced }: PayableJson,
  amount: string | null,
  policy: FeePolicy,
): string | null {
  if (kind !== 'onchain') {
    return routingCap(amount ?? '0', policy);
  }
  // The estimate is for the amount that the string names.
  if (fee_estimate === null || priced !== amount) return null;
  return formatAmountMsat(msat(fee_estimate) * ONCHAIN_HEADROOM);
}

/** Returns the lines of the question before a payment of the string that was typed. */
export async function payQuestion(
  typed: string,
  payable: PayableJson,
  agreed: Agreed,
): Promise<string[]> {
  return costLines({
    ...agreed,
    feeEstimate: payable.fee_estimate,
    to: await receiverOf(typed, payable),
    description: payable.description,
  });
}

/** Returns the cap on the routing fees of an amount, both in sats. */
export function routingCap(amount: string, policy: FeePolicy): string {
  return formatAmountMsat(feeCapMsat(msat(amount), null, policy));
}

/** Returns the receiver in the form that says most about it. */
async function receiverOf(typed: string, payable: PayableJson): Promise<string> {
  // A name is what the person knows the receiver by.
  if (/^[^\s:/?]{1,200}@[^\s:/?]{1,200}$/.test(typed)) return typed;
  switch (payable.kind) {
    case 'invoice': {
      // What reads signatures takes as long to load as the rest of a command.
      const { decodeBolt11 } = await import('../../codecs/bolt11/index.ts');
      return `the node ${decodeBolt11(payable.invoice).payeePubkey}, by invoice`;
    }
    case 'offer':
      return `the offer ${ends(payable.offer)}`;
    case 'onchain':
      return `the address ${payable.onchain}`;
    case 'lnurl-pay':
      return payable.lnurl.includes('@')
        ? payable.lnurl
        : `the service at ${new URL(decodeLnurl(payable.lnurl).url).host}`;
  }
}

function ends(text: string): string {
  return text.length <= 24 ? text : `${text.slice(0, 12)}...${text.slice(-8)}`;
}

function msat(amount: string): bigint {
  return parseAmountMsat(amount) ?? 0n;
}
