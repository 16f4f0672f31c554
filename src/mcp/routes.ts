import { z } from 'zod';
import { post, type Route } from '../http/route.ts';
import { once } from '../lib/once.ts';
import { toolsOf } from './tools.ts';

interface McpRouteOptions {
  /** Whether tools that spend may be called with credentials that have no budget. */
  readonly allowUnlimited: boolean;
}

/** Returns the route at which agents call those of `routes` that are tools (docs/decisions.md 185). */
export function mcpRoutes(routes: readonly Route[], options: McpRouteOptions): readonly Route[] {
  const tools = once(() => toolsOf(routes));
  return [
    post('/mcp', 'agents', {
      access: 'authenticated',
      summary: 'Speak the Model Context Protocol',
      description:
        'One message of the protocol for each request; its tools are endpoints of this API, with the same credentials, limits and errors. A tool that spends needs credentials with a budget. Its errors are those of JSON-RPC.',
      body: () =>
        z
          .record(z.string(), z.unknown())
          .refine(
            (message) => isJson(message),
            'must hold at most 32 levels, and no number with too many digits',
          )
          .describe('A JSON-RPC message of the protocol.'),
      response: () => z.record(z.string(), z.unknown()).describe('The JSON-RPC answer.'),
      example: {
        body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
        response: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
      },
      handler: async (context, { body }) => {
        // The protocol's library would take a part of every start.
        const { answerMcp } = await import('./server.ts');
        return answerMcp(context, body, { ...options, tools: tools() });
      },
    }),
  ];
}

/** Whether a value is JSON of few levels. A number with too many digits is none (docs/decisions.md 20). */
function isJson(value: unknown, levels = 32): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'symbol';
  return levels > 0 && Object.values(value).every((member) => isJson(member, levels - 1));
}
