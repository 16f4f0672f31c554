import { z } from 'zod';
import { encodeNodeInfo, nodeInfoJson } from '../../model/node-info.ts';
import { hexInput } from '../../model/text.ts';
import { nodeInfo } from '../../wallet/session.ts';
import { route } from '../route.ts';

/** An answer without content. */
export const emptyJson = z.object({});

/** The wallet node itself: register, provision, read. */
export const nodeRoutes = [
  route({
    method: 'put',
    path: '/v2/node/signup',
    group: 'node',
    access: 'root_seed',
    summary: 'Register and provision the wallet node',
    description:
      'Needs the root seed and no Authorization header. Must be done once before any other node endpoint works; repeating it does nothing.',
    body: z.object({
      partner_pk: hexInput(32)
        .optional()
        .meta({ description: 'Hex user_pk of a partner to associate with the account.' }),
    }),
    response: emptyJson,
    example: { body: {}, response: {} },
    errors: ['unreachable', 'unreadable'],
    handler: async ({ parts }, { body }) => {
      await parts.wallets.signup(body.partner_pk ?? null);
      return {};
    },
  }),
  route({
    method: 'put',
    path: '/v2/node/provision',
    group: 'node',
    access: 'root_seed',
    summary: 'Provision the node to recent trusted releases',
    description: 'Verifies the signed list of releases and provisions those missing. Idempotent.',
    response: emptyJson,
    example: { response: {} },
    errors: ['refused', 'unreachable', 'unreadable'],
    handler: async ({ parts }) => {
      await parts.wallets.provision();
      return {};
    },
  }),
  route({
    method: 'get',
    path: '/v2/node/node_info',
    group: 'node',
    access: 'node_info',
    summary: 'Read node and balances',
    response: nodeInfoJson,
    errors: ['unreachable', 'unreadable'],
    example: {
      response: {
        version: '0.2.0-sandbox',
        measurement: 'ab'.repeat(32),
        user_pk: 'cd'.repeat(32),
        node_pk: `02${'ef'.repeat(32)}`,
        balance: '2000000',
        lightning_balance: '1000000',
        lightning_sendable_balance: '989010.989',
        lightning_max_sendable_balance: '990000',
        onchain_balance: '1000000',
        onchain_trusted_balance: '1000000',
        num_channels: 1,
        num_usable_channels: 1,
      },
    },
    handler: async ({ session }) => encodeNodeInfo(await nodeInfo(session)),
  }),
];
