import { encodeNodeInfo, nodeInfoJson } from '../../model/node-info.ts';
import { hexInput } from '../../model/text.ts';
import { nodeInfo } from '../../wallet/session/session.ts';
import { emptyJson, get, put } from '../route.ts';

/** Routes that sign up, provision and read the wallet node. */
export const nodeRoutes = [
  put('/v2/node/signup', 'node', {
    access: 'root_seed',
    specified: true,
    summary: 'Register and provision the wallet node',
    description:
      'Needed once for the wallet of a root seed, and for no other; a repeat does nothing.',
    body: () => ({
      partner_pk: hexInput(32)
        .optional()
        .describe('user_pk of a partner to associate with the wallet.'),
    }),
    response: emptyJson,
    example: { body: {}, response: {} },
    handler: async ({ parts }, { body }) => {
      await parts.wallets.signup(body.partner_pk ?? null);
      return {};
    },
  }),
  put('/v2/node/provision', 'node', {
    access: 'root_seed',
    specified: true,
    summary: 'Provision the node to recent trusted releases',
    description: 'Verifies the signed list of releases and provisions those missing. Idempotent.',
    body: () => ({}),
    response: emptyJson,
    example: { response: {} },
    handler: async ({ parts }) => {
      await parts.wallets.provision();
      return {};
    },
  }),
  get('/v2/node/node_info', 'node', {
    isTool: true,
    access: 'node_info',
    ofWallet: true,
    specified: true,
    summary: 'Read node and balances',
    response: nodeInfoJson,
    example: {
      response: {
        version: '0.2.0-sandbox',
        measurement: '185d4b8ca653f23eb34cb2e9306056af4535d01fca6a7afdb86b193de69dd6a0',
        user_pk: '4cc749d1b95e78ad385b5cd0b1372b5683e7a8ac105a988d31aa1db218a2e4b6',
        node_pk: '03a42e0e4f3ffaf85a824fa9ce20835643b0f3c8718fce84a69a9ea121cfee5bda',
        balance: '1996526',
        lightning_balance: '1147996',
        lightning_sendable_balance: '1135234.766',
        lightning_max_sendable_balance: '1136371',
        onchain_balance: '848530',
        onchain_trusted_balance: '848530',
        num_channels: 2,
        num_usable_channels: 2,
      },
    },
    handler: async ({ session }) => encodeNodeInfo(await nodeInfo(session)),
  }),
];
