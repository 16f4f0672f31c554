import type { RemoteKind } from '../model/node-kind.ts';
import { LND } from './lnd/index.ts';
import type { RemoteNodeKind } from './remote-kind.ts';

/**
 * Every kind of node that runs outside this program. A new kind is one folder, one line here and its name in
 * `model/node-kind.ts`; while one of them is missing the program does not compile.
 */
export const REMOTE_NODES: Readonly<Record<RemoteKind, RemoteNodeKind>> = {
  lnd: LND,
};

/** The kind that a root seed can control, by `--node-url`. */
export const ROOT_SEED_KIND: RemoteKind = 'lnd';
