import { test as anyTest } from 'bun:test';
import { CLN_CANNOT } from '../interop/cln-cannot.ts';
import { LDK_CANNOT } from '../interop/ldk-cannot.ts';
import { LND_CANNOT } from '../interop/lnd-cannot.ts';

interface TestedKind {
  readonly title: string;
  /** Tests that this kind of node cannot pass, each with the reason. */
  readonly cannot: ReadonlyMap<string, string>;
}

const KINDS = {
  sandbox: { title: 'the sandbox', cannot: new Map() },
  lnd: { title: 'LND', cannot: LND_CANNOT },
  cln: { title: 'Core Lightning', cannot: CLN_CANNOT },
  ldk: { title: 'the LDK node', cannot: LDK_CANNOT },
} satisfies Readonly<Record<string, TestedKind>>;

/**
 * The kind of node that the conformance tests run on: the sandbox, unless CONFORMANCE_NODE names another. The interop
 * tests run them again on real nodes.
 */
export const CONFORMANCE_NODE = testedKind(process.env.CONFORMANCE_NODE || 'sandbox');

function testedKind(name: string): keyof typeof KINDS {
  if (Object.hasOwn(KINDS, name)) return name as keyof typeof KINDS;
  throw new Error(`CONFORMANCE_NODE names ${name}; give ${Object.keys(KINDS).join(', ')}.`);
}

const { title, cannot }: TestedKind = KINDS[CONFORMANCE_NODE];

/**
 * A test that runs on every kind of node. It is skipped where a declared list gives a reason why the node cannot run
 * it.
 */
export function test(name: string, body: () => Promise<unknown> | unknown): void {
  const reason = cannot.get(name);
  if (reason === undefined) anyTest(name, body as () => Promise<void>);
  else anyTest.skip(`${name} (not on ${title}: ${reason})`, () => undefined);
}

/**
 * A test that is about the sandbox alone, such as its clock, or services on this machine, which a sidecar of a real node
 * asks nothing. On other nodes it does not exist.
 */
export function sandboxTest(name: string, body: () => Promise<unknown> | unknown): void {
  if (CONFORMANCE_NODE === 'sandbox') test(name, body);
}
