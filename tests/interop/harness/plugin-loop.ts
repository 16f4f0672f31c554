/** Answers a request of lightningd, now or later. */
export type PluginAnswer = (result: unknown) => void;

/** What a plugin answers to each method, hooks among them. */
export type PluginMethods<P> = Readonly<Record<string, (params: P, answer: PluginAnswer) => void>>;

/** Serves lightningd as a plugin with that manifest, over stdin and stdout. */
export function servePlugin<P>(manifest: object, methods: PluginMethods<P>): void {
  const all: PluginMethods<P> = {
    getmanifest: (_, answer) =>
      answer({ dynamic: true, options: [], subscriptions: [], ...manifest }),
    init: (_, answer) => answer({}),
    ...methods,
  };
  let received = '';
  process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
    // Each request ends with an empty line.
    const requests = received.split('\n\n');
    received = requests.pop() ?? '';
    for (const text of requests) {
      const { id, method, params } = JSON.parse(text) as { id: unknown; method: string; params: P };
      all[method]?.(params, (result) => {
        process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      });
    }
  });
}
