/**
 * The import table of the architecture: what each folder of `src` may import besides itself and `lib`. The page
 * docs/architecture.md shows the same.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  codecs: [],
  model: ['codecs'],
  config: ['model'],
  net: ['codecs', 'model'],
  nodes: ['net', 'codecs', 'model'],
  store: ['model'],
  wallet: ['nodes/node.ts', 'store/ports.ts', 'net', 'codecs', 'model'],
  webhooks: ['store/ports.ts', 'net', 'model'],
  http: ['wallet', 'store/ports.ts', 'model'],
  cli: ['client', 'config', 'model', 'codecs'],
  client: [],
};

/** Published on its own, so that it may not even share what everything else may. */
export const ALONE: ReadonlySet<string> = new Set(['client']);
