import { z } from 'zod';
import { optionalAddition } from '../../model/text.ts';
import { get } from '../route.ts';

/** The route that says whether the sidecar works. */
export const healthRoutes = [
  get('/v2/health', 'health', {
    access: 'public',
    specified: true,
    summary: 'Tell whether the sidecar is ready',
    description: 'Returns 200 as soon as the sidecar runs; never waits for the node.',
    response: () => ({
      status: z.string().describe('`ok`, or a sentence that says what is missing.'),
      commit: z
        .string()
        .optional()
        .describe('The commit of the program, as `--version` prints it. Version 0.2 did not tell.'),
      budgets: optionalAddition(
        z.string(),
        'Which programs the budgets of clients do not bound, and why. Absent where there are none.',
      ),
    }),
    example: { response: { status: 'ok', commit: '0123456789ab' } },
    handler: async ({ parts }) => ({ ...parts.health(), commit: parts.commit }),
  }),
  // One that stands by answers for itself (`stand-by-app.ts`).
  get('/v2/leader', 'health', {
    access: 'public',
    summary: 'Tell whether this sidecar leads',
    description: 'For proxies: 200 where a sidecar leads or is alone, else 503.',
    response: () => z.strictObject({}),
    example: { response: {} },
    errors: ['overCapacity'],
    handler: async () => ({}),
  }),
];
