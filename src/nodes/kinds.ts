import type { RemoteKind } from '../model/node-kind.ts';
import type { RemoteNodeKind } from './remote-kind.ts';

/**
 * Loads every kind of node that runs outside this program. A sidecar loads the kinds that it uses. A new kind needs its
 * folder, one line here and its name in `model/node-kind.ts`; while one of them is missing the program does not
 * compile.
 */
export const REMOTE_NODES: Readonly<Record<RemoteKind, () => Promise<RemoteNodeKind>>> = {
  lnd: async () => (await import('./lnd/index.ts')).LND,
  cln: async () => (await import('./cln/index.ts')).CLN,
};

/** Loads all kinds. */
export async function remoteNodes(): Promise<Readonly<Record<RemoteKind, RemoteNodeKind>>> {
  const loaded = Object.entries(REMOTE_NODES).map(async ([name, load]) => [name, await load()]);
  return Object.fromEntries(await Promise.all(loaded));
}

/** The kind of node at `--node-url`, whose wallet a root seed controls. */
export const ROOT_SEED_KIND: RemoteKind = 'lnd';
