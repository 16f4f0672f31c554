import { test as anyTest } from 'bun:test';
import { LND_CANNOT } from '../interop/lnd-cannot.ts';

/** The kind of node that the conformance tests run on. The interop tests run them again on a real LND. */
export const CONFORMANCE_NODE = process.env.CONFORMANCE_NODE === 'lnd' ? 'lnd' : 'sandbox';

/**
 * A test that runs on every kind of node. It is skipped where a declared list gives a reason why the node cannot run
 * it.
 */
export function test(name: string, body: () => Promise<unknown> | unknown): void {
  const reason = CONFORMANCE_NODE === 'lnd' ? LND_CANNOT.get(name) : undefined;
  if (reason === undefined) anyTest(name, body as () => Promise<void>);
  else anyTest.skip(`${name} (not on LND: ${reason})`, () => undefined);
}
