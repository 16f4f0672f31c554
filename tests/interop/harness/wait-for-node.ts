import { waitUntil } from '../../support/until.ts';

/** Longest wait, milliseconds, for a real node, which starts slowly where others use the same disk. */
const NODE_PATIENCE_MS = 200_000;

/** {@link waitUntil}, with the patience that a real node needs. */
export function waitForNode<T>(what: string, probe: () => Promise<T | null | false>): Promise<T> {
  return waitUntil(what, probe, NODE_PATIENCE_MS);
}
