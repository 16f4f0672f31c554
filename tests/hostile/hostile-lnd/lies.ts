import type { JsonObject } from '../fake-lnd/rpc.ts';
import type { Misdeed } from '../hostile-lnd.ts';

/** Misdeeds in LND's own shapes: answers that are not true. */

const INVOICES = /LookupInvoice|ListInvoices|SubscribeInvoices/;
const PAYMENTS = /SendPaymentV2|TrackPayment|ListPayments/;

/** The node claims another node's key. */
export function claimsIdentity(pubkey: string): Misdeed {
  return {
    of: /GetInfo/,
    rewrite: (answer) => ({ ...answer, identity_pubkey: pubkey }),
  };
}

/**
 * Every invoice looks settled: with its own amount unless `how` says otherwise, and with a preimage that fits no hash.
 */
export function settlesUnpaid(
  how: { readonly amountMsat?: bigint; readonly preimage?: string } = {},
): Misdeed {
  const { preimage = 'ab'.repeat(32) } = how;
  return {
    of: INVOICES,
    rewrite: onEach('invoices', (invoice) => ({
      ...invoice,
      state: 'SETTLED',
      settled: true,
      settle_date: invoice.creation_date ?? '0',
      settle_index: '1',
      amt_paid_msat: `${how.amountMsat ?? invoice.value_msat}`,
      r_preimage: Buffer.from(preimage, 'hex').toString('base64'),
    })),
  };
}

/** Every settled invoice shows another amount than it received; its preimage stays. */
export function paysAmount(amountMsat: bigint): Misdeed {
  return {
    of: INVOICES,
    rewrite: onEach('invoices', (invoice) =>
      invoice.state === 'SETTLED' ? { ...invoice, amt_paid_msat: `${amountMsat}` } : invoice,
    ),
  };
}

/** Every payment looks successful, with a preimage that fits no hash. */
export function succeedsFalsely(preimage = 'cd'.repeat(32)): Misdeed {
  return {
    of: PAYMENTS,
    rewrite: onEach('payments', (payment) => ({
      ...payment,
      status: 'SUCCEEDED',
      payment_preimage: preimage,
      failure_reason: 'FAILURE_REASON_NONE',
    })),
  };
}

/** Every payment is told with these values in place of its own. */
export function tellsPayment(lie: JsonObject): Misdeed {
  return { of: PAYMENTS, rewrite: onEach('payments', (payment) => ({ ...payment, ...lie })) };
}

/** A created invoice is answered with these values in place of its own. */
export function makesInvoice(lie: (answer: JsonObject) => JsonObject): Misdeed {
  return { of: /AddInvoice|AddHoldInvoice/, rewrite: (answer) => ({ ...answer, ...lie(answer) }) };
}

/** Every new address is this text. */
export function makesAddress(address: string): Misdeed {
  return {
    of: /NewAddress|NextAddr/,
    rewrite: (answer) => ({ ...answer, address, addr: address }),
  };
}

/** Changes the resource that was asked for, or each one of a list. */
function onEach(list: string, change: (item: JsonObject) => JsonObject) {
  return (answer: JsonObject): JsonObject => {
    const items = answer[list];
    if (!Array.isArray(items)) return change(answer);
    return { ...answer, [list]: items.map((item) => change(item as JsonObject)) };
  };
}
