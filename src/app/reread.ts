import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { decodeCredentials, type NodeCredentials } from '../model/credentials.ts';
import type { RemoteOptions } from '../nodes/remote-kind.ts';

/** A node of the configuration, and the file that it comes from; null where it was given itself. */
export interface ConfiguredNode {
  readonly node: NodeCredentials;
  readonly path: string | null;
}

/**
 * Reads again what the configuration's files say of a node, because LND may get a new certificate, URL or macaroon
 * while the sidecar runs. A file that cannot be read, or holds something else now, changes nothing.
 */
export function rereading(
  { node: root, nodeCertPath }: Pick<Config, 'node' | 'nodeCertPath'>,
  configured: readonly ConfiguredNode[],
): NonNullable<RemoteOptions['reread']> {
  return {
    entry(entry) {
      const path = configured.find(({ node }) => node === entry)?.path ?? null;
      const text = path && textOf(path);
      return (text && decodeCredentials(text)?.node) || null;
    },
    root() {
      const cert = nodeCertPath && textOf(nodeCertPath);
      return root && cert ? { url: root.url, cert } : null;
    },
  };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}
