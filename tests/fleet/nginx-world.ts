import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { waitUntil } from '../support/until.ts';

/** The program; null where it is not installed. Says so loudly then. */
export const NGINX = Bun.which('nginx', { PATH: `${process.env.PATH}:/usr/sbin` });
if (NGINX === null)
  console.warn('SKIPPED: nginx was not found, so docs/fleet/nginx.conf is NOT checked.');

/** A real nginx before two sidecars. */
export interface Nginx {
  readonly baseUrl: string;
  readonly port: number;
  /** Its warnings and errors. */
  log(): string;
  stop(): Promise<void>;
}

/** Starts nginx with the file of the docs before the sidecars of these ports, and waits until it listens. */
export async function startNginx(
  portA: number,
  portB: number,
  port: number = freePort(),
): Promise<Nginx> {
  const folder = temporaryFolder('nginx');
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, { port, portA, portB }));
  const child = Bun.spawn([NGINX ?? 'nginx', '-e', join(folder, 'errors'), '-c', file], {
    stderr: 'ignore',
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  await waitUntil('nginx listens', () =>
    fetch(`${baseUrl}/.a-leads`).then(
      () => true,
      () => false,
    ),
  );
  return {
    baseUrl,
    port,
    log: () => readFileSync(join(folder, 'errors'), 'utf8'),
    async stop() {
      child.kill();
      await child.exited;
      removeFolder(folder);
    },
  };
}

/** The file of the docs, with addresses and folders of this test. */
function configuration(
  folder: string,
  { port, portA, portB }: { port: number; portA: number; portB: number },
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  // The folder is this user's alone, and nginx would work as another one where it is started by root.
  const mine = process.getuid?.() === 0 ? 'user root;' : '';
  const log = `error_log ${join(folder, 'errors')} warn;`;
  return readFileSync(join(ROOT, 'docs/fleet/nginx.conf'), 'utf8')
    .replace('events {', `${mine} daemon off; ${log} pid ${join(folder, 'pid')}; events {`)
    .replace('http {', `http { access_log off; ${temporary.join(' ')}`)
    .replace('proxy_cache_path /var/cache/nginx', `proxy_cache_path ${folder}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replaceAll('sidecar-a:5393', `127.0.0.1:${portA}`)
    .replaceAll('sidecar-b:5393', `127.0.0.1:${portB}`)
    .replace('localhost:5393', `localhost:${portA}`);
}
