import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Certificates of a test authority: a valid one for 127.0.0.1, one for another name, and an expired one. */
export interface Certificates {
  readonly ca: string;
  readonly good: Certificate;
  readonly otherName: Certificate;
  readonly expired: Certificate;
}

/** Creates the certificates with openssl. */
export function makeCertificates(): Certificates {
  const folder = temporaryFolder('certificates');
  const openssl = (line: string) => {
    const { success, stderr } = Bun.spawnSync(['openssl', ...line.split(' ')], { cwd: folder });
    if (!success) throw new Error(stderr.toString());
  };
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  const text = (name: string) => readFileSync(join(folder, name), 'utf8');
  const leaf = (name: string, names: string, days: number): Certificate => {
    writeFileSync(join(folder, 'names'), `subjectAltName=${names}\n`);
    openssl(`req ${key} -keyout ${name}.key -out ${name}.csr -subj /CN=receiver`);
    const by = '-CA ca.pem -CAkey ca.key -CAcreateserial';
    openssl(`x509 -req -in ${name}.csr ${by} -out ${name}.pem -days ${days} -extfile names`);
    return { key: text(`${name}.key`), cert: text(`${name}.pem`) };
  };
  try {
    openssl(`req -x509 ${key} -keyout ca.key -out ca.pem -days 30 -subj /CN=authority`);
    return {
      ca: text('ca.pem'),
      good: leaf('good', 'IP:127.0.0.1', 30),
      otherName: leaf('other', 'DNS:other.example', 30),
      expired: leaf('expired', 'IP:127.0.0.1', -1),
    };
  } finally {
    removeFolder(folder);
  }
}
