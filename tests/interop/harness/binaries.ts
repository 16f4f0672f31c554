import { accessSync, constants } from 'node:fs';

/** The programs that the interop tests run; absolute paths, or names resolved on PATH. */
export interface Binaries {
  readonly lnd: string;
  /** The version that this `lnd` reports, such as `0.21.2-beta`. */
  readonly lndVersion: string;
  readonly btcd: string;
}

let found: readonly Binaries[] | null = null;

/**
 * Finds every `lnd` that LND_BIN names (separated by commas or colons), else the one on PATH, each with the `btcd` of
 * BTCD_BIN or of PATH.
 *
 * Returns nothing when either is missing, after one conspicuous line on stderr: the tests are then skipped, not passed.
 * Throws when a variable is set and names no executable file, because that is a mistake.
 */
export function findBinaries(): readonly Binaries[] {
  found ??= locateAll();
  return found;
}

function locateAll(): readonly Binaries[] {
  const lnds = locate('lnd', process.env.LND_BIN?.split(/[,:]/), 'LND_BIN');
  const [btcd] = locate('btcd', process.env.BTCD_BIN?.split(','), 'BTCD_BIN');
  if (lnds.length > 0 && btcd !== undefined) {
    return lnds.map((lnd) => ({ lnd, lndVersion: versionOf(lnd), btcd }));
  }
  const missing = [lnds.length === 0 ? 'lnd' : null, btcd === undefined ? 'btcd' : null]
    .filter((name) => name !== null)
    .join(' and ');
  console.error(
    `\n!!! SKIPPED, nothing was run against a real LND: ${missing} not found. ` +
      'Put lnd and btcd on PATH, or name them in LND_BIN and BTCD_BIN. !!!\n',
  );
  return [];
}

function locate(program: string, given: readonly string[] | undefined, variable: string) {
  const named = given?.map((path) => path.trim()).filter((path) => path !== '') ?? [];
  if (named.length === 0) {
    const onPath = Bun.which(program);
    return onPath === null ? [] : [onPath];
  }
  for (const path of named) {
    try {
      accessSync(path, constants.X_OK);
    } catch {
      throw new Error(
        `${variable} names ${path}, which is not an executable file; correct or unset it.`,
      );
    }
  }
  return named;
}

function versionOf(lnd: string): string {
  const { stdout } = Bun.spawnSync([lnd, '--version']);
  const version = /version (\S+)/.exec(stdout.toString())?.[1];
  if (version !== undefined) return version;
  throw new Error(`${lnd} --version does not name a version; check LND_BIN.`);
}
