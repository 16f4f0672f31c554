import { runBinary } from '../support/binary.ts';
import type { ClnNode, LndNode } from './harness/index.ts';

/** What `connect lnd` prints for a node of the harness. */
export function connectLnd(node: LndNode, macaroonPath = node.macaroonPath): Promise<string> {
  return connect('lnd', node.restUrl, node.tlsCertPath, ['--macaroon-path', macaroonPath]);
}

/** What `connect cln` prints for a node of the harness. */
export function connectCln(node: ClnNode, runePath = node.runePath): Promise<string> {
  return connect('cln', node.url, node.certPath, ['--rune-path', runePath]);
}

async function connect(
  kind: string,
  url: string,
  certPath: string,
  token: readonly string[],
): Promise<string> {
  const { stdout, stderr, exitCode } = await runBinary([
    ...['connect', kind, '--url', url, '--cert-path', certPath],
    ...token,
  ]);
  if (exitCode !== 0) throw new Error(stderr);
  return stdout.trim();
}
