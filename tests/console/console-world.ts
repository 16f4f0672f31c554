import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { type CallOptions, sendOk } from '../support/requests.ts';

/** A sidecar with a trial wallet on the sandbox, for tests in a browser. */
export interface ConsoleWorld {
  readonly sidecar: SidecarProcess;
  readonly url: string;
  readonly dataDir: string;
  /** The token of the cookie file, which signs in as the owner. */
  readonly owner: string;
  /** Calls the API as a program does; throws unless it works. */
  post(path: string, body: object, credentials?: string): Promise<ReturnType<JSON['parse']>>;
  get(path: string, query?: CallOptions['query']): Promise<ReturnType<JSON['parse']>>;
  stop(): Promise<void>;
}

/** Starts the compiled binary with a trial wallet, and with these flags, on a port that it can have again. */
export async function startConsoleWorld(
  name: string,
  flags: readonly string[] = [],
): Promise<ConsoleWorld> {
  const folder = temporaryFolder(name);
  const dataDir = join(folder, 'data');
  const sidecar = startBinary([
    'dev',
    ...['--data-dir', dataDir, '--listen-addr', `127.0.0.1:${freePort()}`],
    ...flags,
  ]);
  const url = await sidecar.ready();
  return {
    sidecar,
    url,
    dataDir,
    owner: readFileSync(join(dataDir, 'cookie'), 'utf8'),
    post: (path, body, credentials) => sendOk(url, 'POST', path, { body, credentials }),
    get: (path, query) => sendOk(url, 'GET', path, query ? { query } : {}),
    async stop() {
      await sidecar.stop();
      removeFolder(folder);
    },
  };
}

/** What a page complained of: errors of its scripts, and whatever its policy kept from it. */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML|Refused/.test(message.text())) {
      complaints.push(message.text());
    }
  });
  return complaints;
}
