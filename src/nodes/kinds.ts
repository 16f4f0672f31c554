import type { RemoteKind } from '../model/node-kind.ts';
import { CLN } from './cln/index.ts';
import { LND } from './lnd/index.ts';
import type { RemoteNodeKind } from './remote-kind.ts';

/**
 * Every kind of node that runs outside this program. A new kind needs its folder, one line here and its name in
 * `model/node-kind.ts`; while one of them is missing the program does not compile.
 */
export const REMOTE_NODES: Readonly<Record<RemoteKind, RemoteNodeKind>> = {
  lnd: LND,
  cln: CLN,
};

/** The kind of node at `--node-url`, whose wallet a root seed controls. */
export const ROOT_SEED_KIND: RemoteKind = 'lnd';
