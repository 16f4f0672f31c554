import { z } from 'zod';
import { once } from '../lib/once.ts';
import { amountOutput } from './amount.ts';
import { priceInput } from './prices/price.ts';
import { addition, laterAddition, timestamp } from './text.ts';

const payableBase = once(() => ({
  callback: z
    .string()
    .describe(
      'URL of `POST /v2/node/pay` with this string filled in. Add `&amount=` where `amount` is null.',
    ),
  description: z.string().nullable().describe("The recipient's description or memo."),
  amount: amountOutput()
    .nullable()
    .describe('Exact amount asked for, in sats; null when the payer chooses.'),
  min_amount: amountOutput().nullable().describe('Least amount accepted, in sats.'),
  max_amount: amountOutput().nullable().describe('Most accepted, in sats.'),
  fee_estimate: amountOutput()
    .nullable()
    .meta(addition('Fee in sats that the node expects now. Null when it is not known.')),
  expires_at: timestamp()
    .nullable()
    .describe('When it can no longer be paid, in milliseconds; null for never.'),
}));

function kindOf<Kind extends string>(kind: Kind) {
  return z.literal(kind).describe('Way of paying; the member of that name holds it.');
}

/** A way to pay that a payment string names (docs/api.md, Payable and claimable). */
export const payableJson = once(() =>
  z
    .discriminatedUnion('kind', [
      z.object({
        ...payableBase(),
        kind: kindOf('invoice'),
        invoice: z.string().describe('The BOLT 11 invoice.'),
      }),
      z.object({
        ...payableBase(),
        kind: kindOf('offer'),
        offer: z.string().describe('The BOLT 12 offer.'),
        price: laterAddition(priceInput(), 'Price in a currency; `min_amount` is its worth.'),
      }),
      z.object({
        ...payableBase(),
        kind: kindOf('onchain'),
        onchain: z.string().describe('The on-chain address.'),
      }),
      z.object({
        ...payableBase(),
        kind: kindOf('lnurl-pay'),
        lnurl: z.string().describe('The LNURL or Lightning Address.'),
      }),
    ])
    .meta({ id: 'Payable', description: 'One way to pay what a payment string asks for.' }),
);
export type PayableJson = z.infer<ReturnType<typeof payableJson>>;

/** Money that a payment string lets the wallet withdraw (docs/api.md, Payable and claimable). */
export const claimableJson = once(() =>
  z
    .object({
      callback: z
        .string()
        .describe('URL of `POST /v2/node/withdraw_lnurl` with this string filled in.'),
      kind: z.literal('lnurl-withdraw').describe('Always `lnurl-withdraw`.'),
      lnurl: z.string().describe('The LNURL-withdraw string.'),
      description: z.string().nullable().describe('Description that the service suggests.'),
      min_amount: amountOutput().nullable().describe('Least to withdraw, in sats.'),
      max_amount: amountOutput().nullable().describe('Most to withdraw, in sats.'),
    })
    .meta({
      id: 'Claimable',
      description: 'Money that a payment string lets the wallet withdraw.',
    }),
);
export type ClaimableJson = z.infer<ReturnType<typeof claimableJson>>;
