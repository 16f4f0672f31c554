/** What each folder of `src` may import besides itself and `lib`. docs/architecture.md shows the same table. */
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
  fleet: ['model'],
  http: ['wallet', 'store/ports.ts', 'fleet', 'model'],
  cli: ['client', 'config', 'model', 'codecs'],
  client: [],
  console: ['client'],
};

/** Folders that run elsewhere, in other programs or in a browser, so they may not import `lib` either. */
export const ALONE: ReadonlySet<string> = new Set(['client', 'console']);
