import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Sources } from './sources.ts';

/** The platform's place for what is kept when no data directory is configured. */
export function defaultDataDir(env: Sources['env']): string {
  if (process.platform === 'darwin') {
    return join(homedir(), 'Library', 'Application Support', 'wallet-sidecar');
  }
  if (process.platform === 'win32' && env.LOCALAPPDATA) {
    return join(env.LOCALAPPDATA, 'wallet-sidecar');
  }
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'wallet-sidecar');
}
