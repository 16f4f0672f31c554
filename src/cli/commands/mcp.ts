import type { CallToolResult, ListToolsResult, Transport } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { sleep } from '../../lib/sleep.ts';
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

/** How long answers that are on their way may take when the agent has said everything, in milliseconds. */
const MOST_WAIT_MS = 10_000;

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
    await closedWhenAnswered(transport);
    await served.close();
  },
);

/**
 * Resolves when the transport is closed. The library closes it with its input and drops what is being answered, so that
 * an agent would not learn what became of a payment: it stays open for that, for {@link MOST_WAIT_MS} at most.
 */
function closedWhenAnswered(transport: Transport): Promise<void> {
  const open = new Set<unknown>();
  const answered = new AbortController();
  const deliver = transport.onmessage;
  const send = transport.send.bind(transport);
  const close = transport.close.bind(transport);
  let isEnding = false;
  const end = (id: unknown) => {
    open.delete(id);
    if (isEnding && open.size === 0) answered.abort();
  };
  transport.onmessage = (message, extra) => {
    if ('method' in message && 'id' in message) open.add(message.id);
    deliver?.(message, extra);
    if (!('method' in message) || message.method !== 'notifications/cancelled') return;
    end(message.params?.requestId);
  };
  transport.send = async (message, options) => {
    await send(message, options);
    if (!('method' in message)) end(message.id);
  };
  return new Promise((resolve, reject) => {
    transport.close = async () => {
      isEnding = true;
      if (open.size > 0) await sleep(MOST_WAIT_MS, answered.signal);
      await close().then(resolve, reject);
    };
  });
}
