import { hex } from '@scure/base';
import { z } from 'zod';
import { positiveAmountInput } from '../../../model/amount.ts';
import { ApiError } from '../../../model/errors.ts';
import { nodeInfoJson } from '../../../model/node-info.ts';
import { encodePayment, paymentJson } from '../../../model/payment.ts';
import { hexInput, hexOutput, noteInput, timestamp } from '../../../model/text.ts';
import { createClient } from '../../../wallet/clients/clients.ts';
import { exampleCredentials, exampleFunding, exampleInvoice } from '../../examples.ts';
import type { Parts } from '../../parts.ts';
import { post } from '../../route.ts';
import type { SandboxControls } from '../../sandbox-controls.ts';

const FULL_GRANT = {
  scopes: ['full' as const],
  permissions: [],
  expiresAtMs: null,
  label: 'sandbox',
  budget: null,
};

/** Routes that control the sandbox node (docs/decisions.md 78). They exist only while that node is in use. */
export const sandboxRoutes = [
  post('/sandbox/wallets', 'sandbox', {
    access: 'sandbox',
    summary: 'Create another wallet, signed up and funded, with full credentials',
    body: () => ({}),
    response: () => ({
      root_seed: hexOutput(32).describe('Root seed of the wallet.'),
      user_pk: nodeInfoJson().shape.user_pk,
      node_pk: nodeInfoJson().shape.node_pk,
      client_credentials: z.string().describe('Credentials that may do everything in that wallet.'),
    }),
    example: {
      body: {},
      response: {
        root_seed: '184ba6fa6c4318bc6838f51a76fe2d2a6be5dc3c14a44766404f7cc9e751948f',
        user_pk: '6bf29818f7c62f7813194a38c4cd3295c207ec691c9b01f8b68e1c5b77ddb3f6',
        node_pk: '034c97933379bae7c33368ad181ba371221d144630c51aaaece63f9f2ad56a94bf',
        client_credentials: exampleCredentials,
      },
    },
    handler: async (context) => {
      const { rootSeed, userPk, nodePk } = await sandboxControls(context.parts).createWallet();
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
  post('/sandbox/fund', 'sandbox', {
    access: 'sandbox_wallet',
    summary: 'Give the calling wallet worthless sandbox coins',
    body: () => ({
      amount: positiveAmountInput().describe('Amount in sats.'),
      rail: z.enum(['lightning', 'onchain']).describe('Where the coins arrive.'),
    }),
    response: paymentJson,
    example: {
      body: { amount: '50000', rail: 'lightning' },
      response: exampleFunding,
    },
    handler: async (context, { body }) =>
      encodePayment(
        await sandboxControls(context.parts).fund(context.session.userPk, {
          amountMsat: body.amount,
          rail: body.rail,
        }),
      ),
  }),
  post('/sandbox/blocks', 'sandbox', {
    access: 'sandbox',
    summary: 'Mine blocks',
    body: () => ({
      count: z.int().min(1).max(10_000).describe('How many blocks.'),
    }),
    response: () => ({ height: z.int().describe('Height of the newest block.') }),
    example: { body: { count: 6 }, response: { height: 126 } },
    handler: (context, { body }) => sandboxControls(context.parts).mine(body.count),
  }),
  post('/sandbox/pay', 'sandbox', {
    access: 'sandbox',
    summary: "Let the outside world pay a wallet's invoice, offer, address or node_pk",
    body: () => ({
      payable: z.string().min(1).describe('Invoice, offer, address, purchase link or node_pk.'),
      amount: positiveAmountInput()
        .optional()
        .describe('Amount in sats; required where the payable has none.'),
      message: noteInput().optional().describe('Message to the wallet.'),
      payer_name: noteInput().optional().describe('Name that the payer gives itself.'),
    }),
    response: () => ({
      status: z.string().describe('Status of the payment, such as `completed`.'),
    }),
    example: { body: { payable: exampleInvoice }, response: { status: 'completed' } },
    handler: (context, { body }) =>
      sandboxControls(context.parts).pay({
        payable: body.payable,
        amountMsat: body.amount ?? null,
        message: body.message ?? null,
        payerName: body.payer_name ?? null,
      }),
  }),
  post('/sandbox/replace', 'sandbox', {
    access: 'sandbox',
    summary: 'Let the outside world take back an unconfirmed on-chain payment',
    description:
      "The wallet's payment names the new transaction as its `replacement`, and fails when that has six confirmations.",
    body: () => ({ txid: hexInput(32).describe('The transaction to replace.') }),
    response: () => ({
      txid: hexOutput(32).describe('The transaction that replaces it.'),
    }),
    example: {
      body: { txid: 'febfcd47a1377f655bf545fa88664e80b20588904f08e802778dc29146ae70ad' },
      response: { txid: '3e00a9cb02d9575d252dcf70db22f832b221d4b69f6dbb5f0983e2848789a5ee' },
    },
    handler: (context, { body }) => sandboxControls(context.parts).replaceOnchain(body.txid),
  }),
  post('/sandbox/clock', 'sandbox', {
    access: 'sandbox',
    summary: "Move the sandbox node's clock forward",
    body: () => ({
      advance_secs: z
        .int()
        .min(0)
        .max(10_000_000_000)
        .describe('Seconds to move the clock by; not beyond the year 3000.'),
    }),
    response: () => ({
      now: timestamp().describe("The node's time after the move, in milliseconds."),
    }),
    example: { body: { advance_secs: 3600 }, response: { now: 1764003600000 } },
    handler: async (context, { body }) => {
      const moved = await sandboxControls(context.parts).advanceClock(body.advance_secs);
      await context.parts.wallets.clockMoved();
      return moved;
    },
  }),
];

/** Returns the controls of the sandbox node. Throws `notFound` when another node is in use. */
export function sandboxControls({ sandbox }: Parts): SandboxControls {
  if (sandbox) return sandbox;
  throw new ApiError('notFound', 'The sandbox node is not in use.');
}
