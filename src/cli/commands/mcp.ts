import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { asking } from '../command.ts';

/** What the sidecar answers goes to the agent as it is. */
type Result = ListToolsResult & CallToolResult;

const answered = z.object({
  result: z.custom<Result>((value) => typeof value === 'object' && value !== null).optional(),
  error: z.object({ message: z.string() }).optional(),
});

const introduced = z.object({
  serverInfo: z.object({ name: z.string(), version: z.string() }),
  instructions: z.string(),
});

/** The introduction that a request to the sidecar needs; the one of the agent is answered by this process. */
const INTRODUCTION = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'wallet-sidecar mcp', version: '1' },
};

/** Adds `mcp`, by which an agent's program that starts its tools itself reaches a running sidecar. */
export const addMcp = asking(
  'mcp',
  {
    about:
      "Serve an agent by the Model Context Protocol on standard input and output. Each call is passed on to the running sidecar (POST /mcp) with this command's credentials; give it those of a client with a budget.",
    examples: ['mcp --client-credentials-path agent.credentials'],
  },
  async (_, { ask }) => {
    const pass = async (method: string, params: object = {}, signal?: AbortSignal) => {
      const message = { jsonrpc: '2.0', id: 1, method, params };
      const call = { signal };
      const answer = await ask((_, to) => to.post('/mcp', message, call), answered, null);
      const { result, error } = answer.value;
      if (result === undefined) throw new Error(error?.message ?? 'The sidecar gave no result.');
      return result;
    };
    // A sidecar that does not run, or refuses the credentials, is told at once.
    const { serverInfo, instructions } = introduced.parse(await pass('initialize', INTRODUCTION));
    const [{ Server }, { serveStdio, StdioServerTransport }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    // The build leaves the library without streams of its own.
    const transport = new StdioServerTransport(process.stdin, process.stdout);
    const served = serveStdio(
      () => {
        const server = new Server(serverInfo, { capabilities: { tools: {} }, instructions });
        for (const method of ['tools/list', 'tools/call'] as const) {
          server.setRequestHandler(method, ({ params }, { mcpReq }) =>
            pass(method, params, mcpReq.signal),
          );
        }
        return server;
      },
      { transport },
    );
    await new Promise<void>((resolve) => process.stdin.once('end', resolve));
    await served.close();
  },
);
