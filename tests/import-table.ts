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
  mcp: ['http'],
  phoenixd: ['http', 'codecs', 'model'],
  nwc: ['phoenixd', 'http', 'store/ports.ts', 'net', 'codecs', 'model'],
  cli: ['client', 'config', 'model', 'codecs'],
  client: [],
  console: ['client'],
};

/** Folders that run elsewhere, in other programs or in a browser, so they may not import `lib` either. */
export const ALONE: ReadonlySet<string> = new Set(['client', 'console']);

/** Rooms of a node kind: what the node says, its calls, and what is made of them. */
const NODE_ROOMS = {
  words: [],
  reads: ['words'],
  onchain: ['reads', 'words'],
  channels: ['reads', 'words'],
  lightning: ['reads', 'words'],
  'set-up': ['reads', 'words'],
  follow: ['lightning', 'channels', 'onchain', 'reads', 'words'],
} as const;

/** What payments are paid and read with. */
const BELOW_OPERATIONS = ['session', 'budget', 'strings', 'clients', 'follow'] as const;

/** The rooms of folders that have some, and what each may import of the others. Files beside them may import all. */
export const ROOMS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  wallet: {
    session: [],
    budget: ['session'],
    strings: ['session', 'budget'],
    clients: ['session', 'budget'],
    follow: ['session', 'budget', 'strings', 'clients'],
    read: BELOW_OPERATIONS,
    pay: [...BELOW_OPERATIONS, 'read'],
    receive: [...BELOW_OPERATIONS, 'read', 'pay'],
    names: [...BELOW_OPERATIONS, 'read', 'pay', 'receive'],
    open: [...BELOW_OPERATIONS, 'read', 'pay', 'receive', 'names'],
  },
  'nodes/remote': {
    calls: [],
    place: ['calls'],
    'set-up': ['calls', 'place'],
    follow: ['calls', 'place'],
    orders: ['calls', 'place'],
  },
  'nodes/lnd': NODE_ROOMS,
  'nodes/cln': NODE_ROOMS,
  'nodes/ldk': {
    words: [],
    process: ['words'],
    chain: [],
    onchain: ['process', 'words'],
    channels: ['onchain', 'process', 'words'],
    lightning: ['channels', 'process', 'words'],
    'set-up': ['process'],
    follow: ['onchain', 'process', 'words'],
    recovery: ['chain', 'onchain', 'process', 'words'],
  },
};
