import { hex } from '@scure/base';
import { z } from 'zod';
import { positiveAmountInput } from '../../model/amount.ts';
import { ApiError } from '../../model/errors.ts';
import { encodePayment, paymentJson } from '../../model/payment.ts';
import { hexInput, hexOutput, noteInput, timestamp } from '../../model/text.ts';
import { createClient } from '../../wallet/clients.ts';
import { type RequestContext, route } from '../route.ts';
import { BEHAVIORS, type SandboxControls } from '../sandbox-controls.ts';
import { examplePayment } from './examples.ts';
import { emptyJson } from './node.ts';

const behaviorInput = z
  .enum(BEHAVIORS)
  .optional()
  .meta({ description: 'What the outside node does with a payment; default settle.' });

/** What the credentials of a wallet made for trials may do. */
const FULL_GRANT = {
  scopes: ['full' as const],
  permissions: [],
  expiresAtMs: null,
  label: 'sandbox',
  budget: null,
};

/** Controls of the sandbox node (decisions section 9); present only while that node is in use. */
export const sandboxRoutes = [
  route({
    method: 'post',
    path: '/sandbox/wallets',
    group: 'sandbox',
    access: 'sandbox',
    summary: 'Create another wallet, signed up and funded, with full credentials',
    addition: true,
    body: z.object({}),
    response: z.object({
      root_seed: hexOutput(32),
      user_pk: hexOutput(32),
      node_pk: hexOutput(33),
      client_credentials: z.string(),
    }),
    example: {
      body: {},
      response: {
        root_seed: '00'.repeat(32),
        user_pk: 'cd'.repeat(32),
        node_pk: `02${'ef'.repeat(32)}`,
        client_credentials: 'eyJ2IjoxLCJub2RlIjp7ImtpbmQiOiJzYW5kYm94In19',
      },
    },
    handler: async (context) => {
      const { rootSeed, userPk, nodePk } = await controls(context).createWallet();
      const owner = await context.parts.wallets.openSeed(hex.decode(rootSeed));
      const { credentials } = await createClient(owner, FULL_GRANT, context.names);
      return {
        root_seed: rootSeed,
        user_pk: userPk,
        node_pk: nodePk,
        client_credentials: credentials,
      };
    },
  }),
  route({
    method: 'post',
    path: '/sandbox/fund',
    group: 'sandbox',
    access: 'sandbox_wallet',
    summary: 'Give the calling wallet worthless sandbox coins',
    addition: true,
    body: z.object({ amount: positiveAmountInput, rail: z.enum(['lightning', 'onchain']) }),
    response: paymentJson,
    errors: ['refused'],
    example: {
      body: { amount: '50000', rail: 'lightning' },
      response: { ...examplePayment, direction: 'inbound' },
    },
    handler: async (context, { body }) =>
      encodePayment(
        await controls(context).fund(context.session.userPk, {
          amountMsat: body.amount,
          rail: body.rail,
        }),
      ),
  }),
  route({
    method: 'post',
    path: '/sandbox/blocks',
    group: 'sandbox',
    access: 'sandbox',
    summary: 'Mine blocks',
    addition: true,
    body: z.object({ count: z.int().min(1).max(10_000) }),
    response: z.object({ height: z.int() }),
    example: { body: { count: 6 }, response: { height: 106 } },
    handler: (context, { body }) => controls(context).mine(body.count),
  }),
  route({
    method: 'post',
    path: '/sandbox/pay',
    group: 'sandbox',
    access: 'sandbox',
    summary: "Let the outside world pay a wallet's invoice, offer, address or node_pk",
    addition: true,
    body: z.object({
      payable: z.string().min(1),
      amount: positiveAmountInput.optional(),
      message: noteInput.optional(),
      payer_name: noteInput.optional(),
    }),
    response: z.object({ status: z.string() }),
    errors: ['refused'],
    example: { body: { payable: 'lnbcrt10u1p5example' }, response: { status: 'completed' } },
    handler: (context, { body }) =>
      controls(context).pay({
        payable: body.payable,
        amountMsat: body.amount ?? null,
        message: body.message ?? null,
        payerName: body.payer_name ?? null,
      }),
  }),
  route({
    method: 'post',
    path: '/sandbox/invoice',
    group: 'sandbox',
    access: 'sandbox',
    summary: 'Create an invoice of an outside node',
    addition: true,
    body: z.object({
      amount: positiveAmountInput.optional(),
      description: noteInput.optional(),
      expiration_secs: z.int().min(1).max(31_536_000).optional(),
      behavior: behaviorInput,
    }),
    response: z.object({ invoice: z.string(), payment_hash: hexOutput(32) }),
    example: {
      body: { amount: '1000', behavior: 'settle' },
      response: { invoice: 'lnbcrt10u1p5example', payment_hash: 'a3'.repeat(32) },
    },
    handler: async (context, { body }) => {
      const { invoice, paymentHash } = await controls(context).createInvoice({
        amountMsat: body.amount ?? null,
        description: body.description ?? null,
        expirationSecs: body.expiration_secs ?? 86_400,
        behavior: body.behavior ?? 'settle',
      });
      return { invoice, payment_hash: paymentHash };
    },
  }),
  route({
    method: 'post',
    path: '/sandbox/offer',
    group: 'sandbox',
    access: 'sandbox',
    summary: 'Create an offer of an outside node',
    addition: true,
    body: z.object({
      min_amount: positiveAmountInput.optional(),
      description: noteInput.optional(),
      behavior: behaviorInput,
    }),
    response: z.object({ offer: z.string() }),
    example: { body: {}, response: { offer: 'lno1example' } },
    handler: (context, { body }) =>
      controls(context).createOffer({
        minAmountMsat: body.min_amount ?? null,
        description: body.description ?? null,
        behavior: body.behavior ?? 'settle',
      }),
  }),
  route({
    method: 'post',
    path: '/sandbox/holds',
    group: 'sandbox',
    access: 'sandbox',
    summary: 'Decide a held payment',
    addition: true,
    body: z.object({ payment_hash: hexInput(32), settle: z.boolean() }),
    response: emptyJson,
    errors: ['notFound'],
    example: { body: { payment_hash: 'a3'.repeat(32), settle: true }, response: {} },
    handler: async (context, { body }) => {
      await controls(context).decideHold({ paymentHash: body.payment_hash, settle: body.settle });
      return {};
    },
  }),
  route({
    method: 'post',
    path: '/sandbox/lnurl',
    group: 'sandbox',
    access: 'sandbox',
    summary: 'Create an LNURL service of the outside world, served by this sidecar',
    addition: true,
    body: z
      .object({
        tag: z.enum(['payRequest', 'withdrawRequest']),
        min_amount: positiveAmountInput,
        max_amount: positiveAmountInput,
        comment_length: z.int().min(0).max(2000).optional(),
        description: noteInput.optional(),
      })
      .refine((body) => body.min_amount <= body.max_amount, {
        path: ['max_amount'],
        message: 'must not be below min_amount',
      }),
    response: z.object({ lnurl: z.string(), url: z.string() }),
    example: {
      body: { tag: 'payRequest', min_amount: '1', max_amount: '1000' },
      response: { lnurl: 'lnurl1example', url: 'http://127.0.0.1:5393/sandbox/lnurl/1' },
    },
    handler: (context, { body }) =>
      controls(context).createLnurl({
        tag: body.tag,
        minMsat: body.min_amount,
        maxMsat: body.max_amount,
        commentLength: body.comment_length ?? 0,
        description: body.description ?? null,
      }),
  }),
  route({
    method: 'post',
    path: '/sandbox/replace',
    group: 'sandbox',
    access: 'sandbox',
    summary: 'Let the outside world take back an unconfirmed on-chain payment',
    description:
      "The wallet's payment fails, and its `replacement` names the transaction that won.",
    addition: true,
    body: z.object({ txid: hexInput(32) }),
    response: z.object({ txid: hexOutput(32) }),
    errors: ['refused'],
    example: { body: { txid: 'f8'.repeat(32) }, response: { txid: 'f9'.repeat(32) } },
    handler: (context, { body }) => controls(context).replaceOnchain(body.txid),
  }),
  route({
    method: 'post',
    path: '/sandbox/clock',
    group: 'sandbox',
    access: 'sandbox',
    summary: "Move the sandbox node's clock forward",
    addition: true,
    body: z.object({ advance_secs: z.int().min(0).max(10_000_000_000) }),
    response: z.object({ now: timestamp }),
    example: { body: { advance_secs: 3600 }, response: { now: 1764003600000 } },
    handler: async (context, { body }) => {
      const moved = await controls(context).advanceClock(body.advance_secs);
      context.parts.wallets.clockMoved();
      return moved;
    },
  }),
];

function controls({ parts }: RequestContext): SandboxControls {
  if (parts.sandbox) return parts.sandbox;
  throw new ApiError('notFound', 'The sandbox node is not in use.');
}
