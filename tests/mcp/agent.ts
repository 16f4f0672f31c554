import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Body } from '../support/requests.ts';

const BINARY = new URL('../../dist/wallet-sidecar', import.meta.url).pathname;

/** How an agent reaches the sidecar. */
export const TRANSPORTS = ['http', 'stdio'] as const;

/** The generations of the protocol that clients begin with: today's, and the one before. */
export const GENERATIONS = ['auto', 'legacy'] as const;

/** A program that speaks MCP, as the official client does it. */
export interface Agent {
  readonly protocol: string | undefined;
  /** Returns the tools that are listed. */
  tools(): Promise<readonly { readonly name: string; readonly inputSchema: Body }[]>;
  /** Calls a tool. `body` is the structured answer; undefined where there is none. */
  call(
    name: string,
    given?: object,
  ): Promise<{ readonly isError: boolean; readonly text: string; readonly body: Body }>;
  close(): Promise<void>;
}

/** Connects the official client. Without credentials it is the owner; over stdio by the cookie. */
export async function connectAgent(
  { baseUrl, dataDir }: { readonly baseUrl: string; readonly dataDir: string },
  options: {
    readonly transport: (typeof TRANSPORTS)[number];
    readonly generation?: (typeof GENERATIONS)[number];
    readonly credentials?: string;
  },
): Promise<Agent> {
  const { transport, generation = 'auto', credentials } = options;
  const client = new Client(
    { name: 'agent', version: '1' },
    { versionNegotiation: { mode: generation } },
  );
  const flags = credentials ? ['--client-credentials', credentials] : ['--data-dir', dataDir];
  await client.connect(
    transport === 'stdio'
      ? new StdioClientTransport({ command: BINARY, args: ['mcp', '--url', baseUrl, ...flags] })
      : new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), {
          requestInit: {
            headers: credentials ? { authorization: `Bearer ${credentials}` } : {},
          },
        }),
  );
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools,
    async call(name, given = {}) {
      const result = await client.callTool({ name, arguments: given as Record<string, unknown> });
      const [first] = result.content;
      return {
        isError: result.isError === true,
        text: first?.type === 'text' ? first.text : '',
        body: result.structuredContent as Body,
      };
    },
    close: () => client.close(),
  };
}
