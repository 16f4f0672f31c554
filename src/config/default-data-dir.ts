import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Sources } from './sources.ts';

/** Returns the directory of this platform for application data, which is used when none is configured. */
export function defaultDataDir(env: Sources['env']): string {
  if (process.platform === 'darwin') {
    return join(homedir(), 'Library', 'Application Support', 'wallet-sidecar');
  }
  if (process.platform === 'win32' && env.LOCALAPPDATA) {
    return join(env.LOCALAPPDATA, 'wallet-sidecar');
  }
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'wallet-sidecar');
}
