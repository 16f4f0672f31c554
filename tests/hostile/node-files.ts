import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RestLocation } from '../interop/harness/lnd-rest.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

/** Access to a node as its operator has it: a URL and two files. */
export interface NodeFiles extends RestLocation, Disposable {}

/** Writes certificate (PEM) and macaroon (hex) of a node into files, which are removed at the end of the scope. */
export function nodeFiles(node: { url: string; cert: string; adminMacaroon: string }): NodeFiles {
  const folder = temporaryFolder('node');
  const tlsCertPath = join(folder, 'tls.cert');
  const macaroonPath = join(folder, 'admin.macaroon');
  writeFileSync(tlsCertPath, node.cert);
  writeFileSync(macaroonPath, Buffer.from(node.adminMacaroon, 'hex'), { mode: 0o600 });
  return {
    restUrl: node.url,
    tlsCertPath,
    macaroonPath,
    [Symbol.dispose]: () => removeFolder(folder),
  };
}
