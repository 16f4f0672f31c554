import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RestLocation } from '../interop/harness/lnd-rest.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

/** A node's URL, with its certificate and macaroon in two files, as its operator has them. */
export interface NodeFiles extends RestLocation, Disposable {}

/** Writes the certificate (PEM) and macaroon (hex) of a node into files, which are removed at the end of the scope. */
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
