import { z } from 'zod';
import { formatNullableAmountMsat } from '../../model/amount.ts';
import {
  type ClaimableJson,
  claimableJson,
  type PayableJson,
  payableJson,
} from '../../model/analysis.ts';
import { rejected } from '../../model/errors.ts';
import type { Price } from '../../model/prices/price.ts';
import { optionalAddition } from '../../model/text.ts';
import { seesOnlyOwn } from '../../wallet/session/own-payments.ts';
import { analyze } from '../../wallet/strings/analyze.ts';
import type { PricedMethod } from '../../wallet/strings/fee-estimate.ts';
import type { ClaimMethod } from '../../wallet/strings/method-terms.ts';
import { exampleCreatedInvoice, exampleInvoice } from '../examples.ts';
import { agreedPaymentString } from '../input-comparison.ts';
import { paymentStringInput } from '../query.ts';
import { get } from '../route.ts';

/** The route that explains payment strings. */
export const analyzeRoutes = [
  get('/v2/node/analyze', 'send', {
    isTool: true,
    access: 'node_info',
    specified: true,
    summary: 'Explain a payment string',
    description: 'Where the amount of a payable is null, add `&amount=` to its callback.',
    query: () => ({
      payment_string: paymentStringInput()
        .optional()
        .meta({
          description:
            'BIP 321 or lightning: URI, invoice, offer, address, LNURL, or a name. Required, unless `payable` is given.',
          examples: [exampleInvoice],
        }),
      payable: optionalAddition(
        paymentStringInput(),
        'Another name of `payment_string`; both must be equal.',
      ),
    }),
    response: () => ({
      payables: z.array(payableJson()).describe('Ways to pay, the best first.'),
      claimables: z.array(claimableJson()).describe('Money to withdraw.'),
    }),
    errors: ['notFound', 'serviceFailed', 'timeout', 'overCapacity'],
    example: {
      query: { payment_string: exampleInvoice },
      response: {
        payables: [
          {
            callback: `http://127.0.0.1:5393/v2/node/pay?payable=${exampleInvoice}`,
            kind: 'invoice',
            invoice: exampleInvoice,
            description: exampleCreatedInvoice.description,
            amount: exampleCreatedInvoice.amount,
            min_amount: null,
            max_amount: null,
            fee_estimate: '2',
            expires_at: exampleCreatedInvoice.expires_at,
          },
        ],
        claimables: [],
      },
    },
    handler: async (context, { query }) => {
      const { session, parts } = context;
      const { payment_string, payable } = query;
      const text = agreedPaymentString(
        'payable',
        payment_string,
        payable,
        'payment_string and payable',
      );
      if (text === undefined) throw rejected('payment_string', 'is required');
      const { payables, claimables } = await analyze(
        text,
        payment_string === undefined ? 'payable' : 'payment_string',
        session,
        parts.services,
        context,
      );
      // An estimate is there only for what the balance pays for.
      const hidden = seesOnlyOwn(session) ? { feeEstimateMsat: null } : {};
      return {
        payables: payables.map((one) => encodePayable({ ...one, ...hidden }, parts.sidecarUrl)),
        claimables: claimables.map((method) => encodeClaimable(method, parts.sidecarUrl)),
      };
    },
  }),
];

function encodePayable(method: PricedMethod, sidecarUrl: string): PayableJson {
  const shared = {
    callback: `${sidecarUrl}/v2/node/pay?payable=${callbackValues(method)}`,
    description: method.description || null,
    amount: formatNullableAmountMsat(method.amountMsat),
    min_amount: formatNullableAmountMsat(method.minMsat),
    max_amount: formatNullableAmountMsat(method.maxMsat),
    fee_estimate: formatNullableAmountMsat(method.feeEstimateMsat),
    expires_at: method.expiresAtMs,
  };
  switch (method.kind) {
    case 'offer':
      return { ...shared, kind: 'offer', offer: method.text, price: priceJson(method.price) };
    case 'invoice':
      return { ...shared, kind: 'invoice', invoice: method.text };
    case 'onchain':
      return { ...shared, kind: 'onchain', onchain: method.text };
    case 'lnurl-pay':
      return { ...shared, kind: 'lnurl-pay', lnurl: method.text };
  }
}

function priceJson(price: Price | null): Price | null {
  return price && { currency: price.currency, amount: price.amount };
}

function encodeClaimable(method: ClaimMethod, sidecarUrl: string): ClaimableJson {
  return {
    callback: `${sidecarUrl}/v2/node/withdraw_lnurl?lnurl=${callbackValues(method)}`,
    kind: 'lnurl-withdraw',
    lnurl: method.text,
    description: method.description || null,
    min_amount: formatNullableAmountMsat(method.minMsat),
    max_amount: formatNullableAmountMsat(method.maxMsat),
  };
}

/** The method, percent-encoded, and the URI's amount, which the callback would otherwise lose. */
function callbackValues({ text, amountBeside, amountMsat }: PricedMethod | ClaimMethod): string {
  const withAmount = amountBeside ? `&amount=${formatNullableAmountMsat(amountMsat)}` : '';
  return `${encodeURIComponent(text)}${withAmount}`;
}
