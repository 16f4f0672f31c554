import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** The programs that the interop tests with LND run; absolute paths, or names resolved on PATH. */
export interface Binaries {
  readonly lnd: string;
  /** The version that this `lnd` reports, such as `0.21.2-beta`. */
  readonly lndVersion: string;
  readonly btcd: string;
}

/** The programs of one Core Lightning. */
export interface ClnPrograms {
  readonly lightningd: string;
  /** The version that this `lightningd` reports, such as `26.06.6`. */
  readonly clnVersion: string;
  /** Null where this `lightningd` has a clnrest among its own plugins. */
  readonly clnrest: string | null;
}

/** The programs that the interop tests with Core Lightning run. */
export interface ClnBinaries extends ClnPrograms {
  readonly btcd: string;
}

/** With `INTEROP=named` nodes on PATH do not count, so that a run whose time is limited has none by chance. */
const isNamedAlone = process.env.INTEROP === 'named';
const ONLY_NAMED = isNamedAlone ? ' (with INTEROP=named the node must be named)' : '';

let found: readonly Binaries[] | null = null;
let foundCln: readonly ClnBinaries[] | null = null;

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

/**
 * Finds every `lightningd` that LIGHTNINGD_BIN names, as {@link findBinaries} finds every `lnd`. A clnrest that is not
 * among the plugins of `lightningd` is the one of CLNREST_BIN or of PATH.
 */
export function findClnBinaries(): readonly ClnBinaries[] {
  foundCln ??= locateAllCln();
  return foundCln;
}

function locateAll(): readonly Binaries[] {
  const lnds = locateNodes('lnd', 'LND_BIN');
  const btcd = locateBtcd();
  if (lnds.length > 0 && btcd !== undefined) {
    return lnds.map((lnd) => ({ lnd, lndVersion: versionOf(lnd, 'LND_BIN'), btcd }));
  }
  const missing = { lnd: lnds.length === 0, btcd: btcd === undefined };
  sayMissing(
    'LND',
    missing,
    `Put lnd and btcd on PATH, or name them in LND_BIN and BTCD_BIN${ONLY_NAMED}.`,
  );
  return [];
}

function locateAllCln(): readonly ClnBinaries[] {
  const lightningds = locateNodes('lightningd', 'LIGHTNINGD_BIN');
  const [elsewhere] = locate('clnrest', 'CLNREST_BIN');
  const btcd = locateBtcd();
  const complete = lightningds
    .map((lightningd) => ({ lightningd, clnrest: hasClnrest(lightningd) ? null : elsewhere }))
    .filter((one): one is typeof one & { clnrest: string | null } => one.clnrest !== undefined);
  if (complete.length > 0 && btcd !== undefined) {
    return complete.map(({ lightningd, clnrest }) => {
      const clnVersion = versionOf(lightningd, 'LIGHTNINGD_BIN');
      return { lightningd, clnVersion, clnrest, btcd };
    });
  }
  const noLightningd = lightningds.length === 0;
  const missing = {
    lightningd: noLightningd,
    clnrest: !noLightningd && complete.length === 0,
    btcd: btcd === undefined,
  };
  sayMissing(
    'Core Lightning',
    missing,
    `Put lightningd, clnrest and btcd on PATH, or name them in LIGHTNINGD_BIN, CLNREST_BIN and BTCD_BIN${ONLY_NAMED}.`,
  );
  return [];
}

/** Whether this `lightningd` starts a clnrest by itself, as an installed one does. */
function hasClnrest(lightningd: string): boolean {
  const installed = '../../libexec/c-lightning/plugins/clnrest';
  return existsSync(join(realpathSync(lightningd), installed));
}

function sayMissing(node: string, missing: Readonly<Record<string, boolean>>, advice: string) {
  const names = Object.keys(missing).filter((name) => missing[name]);
  console.error(
    `\n!!! SKIPPED, nothing was run against a real ${node}: ${names.join(' and ')} not found. ` +
      `${advice} !!!\n`,
  );
}

function locateBtcd(): string | undefined {
  return locate('btcd', 'BTCD_BIN')[0];
}

function locateNodes(program: string, variable: string): readonly string[] {
  return isNamedAlone && !process.env[variable] ? [] : locate(program, variable);
}

function locate(program: string, variable: string): readonly string[] {
  const given = process.env[variable]?.split(/[,:]/) ?? [];
  const named = given.map((path) => path.trim()).filter((path) => path !== '');
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

function versionOf(binary: string, variable: string): string {
  const { stdout } = Bun.spawnSync([binary, '--version']);
  const version = /^(?:.* version )?v?(\d\S*)/.exec(stdout.toString())?.[1];
  if (version !== undefined) return version;
  throw new Error(`${binary} --version does not name a version; check ${variable}.`);
}
