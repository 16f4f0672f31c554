import type { NodeConnector } from './node.ts';

/**
 * Returns a connector whose code is loaded by the first call that needs it. It is for a kind of node that the
 * configuration does not name, so it has no problems to tell.
 */
export function loadedOnUse(load: () => Promise<NodeConnector>): NodeConnector {
  let loaded: Promise<NodeConnector> | null = null;
  const connector = () => {
    loaded ??= load();
    return loaded;
  };
  return {
    connectConfigured: async (entry) => (await connector()).connectConfigured(entry),
    connectClient: async (...of) => (await connector()).connectClient(...of),
    connectOwner: async (userPk) => (await connector()).connectOwner(userPk),
    connectRoot: async (rootSeed) => (await connector()).connectRoot(rootSeed),
    signup: async (rootSeed, options) => (await connector()).signup(rootSeed, options),
    provision: async (rootSeed) => (await connector()).provision(rootSeed),
    problems: () => [],
    async close() {
      await (await loaded)?.close();
    },
  };
}
