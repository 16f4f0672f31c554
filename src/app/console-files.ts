import type { ConsoleFile } from '../http/console/files.ts';

declare const WALLET_SIDECAR_CONSOLE: string | undefined;

/** The files of the console, which the build puts into the binary; none when the program runs from source. */
export const CONSOLE_FILES: readonly ConsoleFile[] =
  typeof WALLET_SIDECAR_CONSOLE === 'string'
    ? (JSON.parse(WALLET_SIDECAR_CONSOLE) as readonly ConsoleFile[])
    : [];
