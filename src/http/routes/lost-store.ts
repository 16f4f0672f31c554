import { z } from 'zod';
import { pruneTokens, strayTokens } from '../../wallet/clients/client-tokens.ts';
import { emptyJson, post } from '../route.ts';

/** Routes by which the owner puts clients in order after the database was restored or lost. */
export const lostStoreRoutes = [
  post('/v2/node/confirm_budgets', 'clients', {
    access: 'owner',
    summary: 'Confirm the budgets after the database was restored',
    description: 'Until then clients with a budget cannot spend.',
    body: () => ({}),
    response: emptyJson,
    example: { body: {}, response: {} },
    handler: async ({ session }) => {
      await session.guard.confirm();
      return {};
    },
  }),
  post('/v2/node/prune_clients', 'clients', {
    access: 'owner',
    summary: "End the node's tokens of clients that no longer exist",
    description:
      'Lists those that this sidecar made, as after the database was lost. With `remove` it ends them.',
    body: () => ({
      remove: z.boolean().default(false).describe('Whether to end the listed tokens.'),
    }),
    response: () => ({
      token_ids: z.array(z.string()).describe("The node's names for the tokens."),
      removed: z.boolean().describe('Whether the listed tokens were ended.'),
    }),
    errors: ['unsupported'],
    example: { body: {}, response: { token_ids: ['4821736450912'], removed: false } },
    handler: async ({ session }, { body }) => ({
      token_ids: body.remove ? await pruneTokens(session) : await strayTokens(session),
      removed: body.remove,
    }),
  }),
];
