import { test as anyTest } from 'bun:test';
import { LND_CANNOT } from '../interop/lnd-cannot.ts';

/** Which node the conformance tests run on; the interop tests run them once more on a real LND. */
export const CONFORMANCE_NODE = process.env.CONFORMANCE_NODE === 'lnd' ? 'lnd' : 'sandbox';

/** A test that runs on every node kind, or is skipped where a declared list says why it cannot. */
export function test(name: string, body: () => Promise<unknown> | unknown): void {
  const reason = CONFORMANCE_NODE === 'lnd' ? LND_CANNOT.get(name) : undefined;
  if (reason === undefined) anyTest(name, body as () => Promise<void>);
  else anyTest.skip(`${name} (not on LND: ${reason})`, () => undefined);
}
