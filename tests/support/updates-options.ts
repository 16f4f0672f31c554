import { openLog } from '../../src/lib/log.ts';
import type { UpdatesOptions } from '../../src/nodes/node.ts';

/** Options of a feed from the wallet's beginning, without unfinished payments and log, unless `change` says otherwise. */
export function updatesOptions(change: Partial<UpdatesOptions> = {}): UpdatesOptions {
  return {
    after: null,
    open: async () => [],
    signal: new AbortController().signal,
    historySinceMs: null,
    log: openLog({ level: 'silent', format: 'text', write: () => undefined }),
    ...change,
  };
}
