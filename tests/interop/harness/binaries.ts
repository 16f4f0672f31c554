import { accessSync, constants } from 'node:fs';

/** The two programs that the interop tests run; absolute paths, or names resolved on PATH. */
export interface Binaries {
  readonly lnd: string;
  readonly btcd: string;
}

/**
 * The `lnd` and `btcd` named by LND_BIN and BTCD_BIN, else those on PATH.
 *
 * Null when either is missing, after one loud line on stderr: such tests are skipped, never passed.
 * A variable that is set and names no executable file is a mistake, not an absence: it throws.
 */
export function findBinaries(): Binaries | null {
  const lnd = locate('lnd', 'LND_BIN');
  const btcd = locate('btcd', 'BTCD_BIN');
  if (lnd !== null && btcd !== null) return { lnd, btcd };
  const missing = [lnd === null ? 'lnd' : null, btcd === null ? 'btcd' : null]
    .filter((name) => name !== null)
    .join(' and ');
  console.error(
    `\n!!! SKIPPED, nothing was run against a real LND: ${missing} not found. ` +
      'Put lnd and btcd on PATH, or name them in LND_BIN and BTCD_BIN. !!!\n',
  );
  return null;
}

function locate(program: string, variable: string): string | null {
  const named = process.env[variable];
  if (named === undefined || named === '') return Bun.which(program);
  try {
    accessSync(named, constants.X_OK);
  } catch {
    throw new Error(
      `${variable} names ${named}, which is not an executable file; correct or unset it.`,
    );
  }
  return named;
}
