import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { OPTIONS, type OptionName, type OptionSpec } from './options.ts';

/** A configuration that cannot be used; the message is one sentence for the person who starts the program. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** A setting as it was found. */
export interface Found {
  readonly value: string;
  /** Where it was found, for messages, such as `--root-seed` or `SERVICE_ROOT_SEED (environment)`. */
  readonly source: string;
}

/** What was given on the command line, by flag name without dashes. */
export type Flags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** Where settings come from. */
export interface Sources {
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Looks settings up: flag, then environment, then the nearest `.env` upwards (decisions section 1). */
export function settingLookup(sources: Sources): (name: OptionName) => Found | null {
  const file = readNearestEnv(sources.cwd);
  return (name) => {
    const option: OptionSpec = OPTIONS[name];
    const flag = sources.flags[option.flag];
    if (flag !== undefined && flag !== false) {
      const value = typeof flag === 'string' ? flag : flag === true ? 'true' : flag.join(',');
      return { value, source: `--${option.flag}` };
    }
    const env = sources.env[option.env];
    if (env !== undefined && env !== '') {
      return { value: env, source: `${option.env} (environment)` };
    }
    const value = file?.values[option.env];
    return value ? { value, source: `${option.env} (${file.path})` } : null;
  };
}

/** Reads the values of the first `.env` found walking up; it runs nothing and changes no environment. */
function readNearestEnv(
  start: string,
): { path: string; values: Record<string, string | undefined> } | null {
  for (let folder = start; ; folder = dirname(folder)) {
    const path = join(folder, '.env');
    if (existsSync(path)) return { path, values: parseEnv(readFileSync(path, 'utf8')) };
    if (dirname(folder) === folder) return null;
  }
}
