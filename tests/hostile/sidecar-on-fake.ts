import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NodeSidecar, startNodeSidecar } from '../interop/node-sidecar.ts';
import { type Ended, runBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { nodeFiles } from './node-files.ts';

/** Where a node is reached and what opens it: a fake, or a proxy in front of one. */
export interface NodePlace {
  readonly url: string;
  /** The certificate at that URL, PEM. */
  readonly cert: string;
  /** The macaroon, hex. */
  readonly adminMacaroon: string;
}

/** The compiled binary in front of a fake LND. */
export interface SidecarOnFake extends NodeSidecar {
  /** The credentials that `connect lnd` made for the node. */
  readonly credentials: string;
  /** The file with these credentials. */
  readonly credentialsPath: string;
}

/** `connect lnd` for a node. */
export async function connect(node: NodePlace): Promise<Ended> {
  using files = nodeFiles(node);
  return await runBinary([
    ...['connect', 'lnd', '--url', files.restUrl, '--cert-path', files.tlsCertPath],
    ...['--macaroon-path', files.macaroonPath],
  ]);
}

/** The credentials that `connect lnd` prints for a node. */
export async function credentialsOf(node: NodePlace): Promise<string> {
  const { exitCode, stdout, stderr } = await connect(node);
  if (exitCode !== 0) throw new Error(`connect lnd failed: ${stderr}`);
  return stdout.trim();
}

/** Starts the sidecar with a node as its default one. */
export async function startSidecarOnFake(
  node: NodePlace,
  flags: readonly string[] = [],
): Promise<SidecarOnFake> {
  const folder = temporaryFolder('credentials');
  const credentialsPath = join(folder, 'node.credentials');
  const credentials = await credentialsOf(node);
  writeFileSync(credentialsPath, `${credentials}\n`, { mode: 0o600 });
  const sidecar = await startNodeSidecar(['--client-credentials-path', credentialsPath, ...flags]);
  return {
    ...sidecar,
    credentials,
    credentialsPath,
    close: async () => {
      await sidecar.close();
      removeFolder(folder);
    },
  };
}
