import { resolve } from 'node:path';
import type { Parsed } from '../model/parsed.ts';
import { readEnvFile, readNearestEnv } from './env-file.ts';
import { parseList } from './network.ts';
import { OPTIONS, type OptionName, type OptionSpec } from './options.ts';
import { unknownNames } from './unknown-names.ts';

/** A configuration that cannot be used; the message is one sentence for the person who starts the program. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The text of a setting and where it was found. */
export interface Found {
  readonly value: string;
  /** Where it was found, for messages, such as `--root-seed` or `SERVICE_ROOT_SEED (environment)`. */
  readonly source: string;
  /** The kind of source: `file` is the `.env`, `default` means that the setting was not given. */
  readonly origin: 'flag' | 'environment' | 'file' | 'default';
}

/** The values given on the command line, by the flag's name without dashes. */
export type Flags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** Where settings come from. */
export interface Sources {
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/**
 * The settings as given. Precedence: flags, then environment variables, then the file that --env-file names, or else
 * the nearest `.env` in the working directory or above it (docs/decisions.md 4).
 */
export interface Settings {
  find(name: OptionName): Found | null;
  /** Returns the values of a repeatable setting: one for each flag, or the comma separated parts of other sources. */
  list(name: OptionName): readonly Found[];
  /** Path of the `.env` that was read; null when there is none. */
  readonly envFile: string | null;
  /** Sentences about the sources themselves, such as a variable that is not a setting. */
  readonly warnings: readonly string[];
}

/** The flag that names the settings file. It is no setting itself: a settings file cannot name another. */
export const ENV_FILE = {
  flag: 'env-file',
  value: 'file',
  description: 'Settings file to read in place of the nearest .env.',
} as const;

/** Reads the sources. Throws {@link ConfigError} for a `.env` of another user (docs/decisions.md 5). */
export function openSettings(sources: Sources): Settings {
  const named = sources.flags[ENV_FILE.flag];
  const read =
    typeof named === 'string'
      ? readEnvFile(resolve(sources.cwd, named))
      : readNearestEnv(sources.cwd);
  if ('problem' in read) throw new ConfigError(`${read.problem}.`);
  const file = read.value;
  const find = (name: OptionName): Found | null => {
    const option: OptionSpec = OPTIONS[name];
    const flag = flagged(sources.flags, option);
    if (flag.length > 0) {
      return { value: flag.join(','), source: `--${option.flag}`, origin: 'flag' };
    }
    const env = sources.env[option.env];
    if (env !== undefined && env !== '') {
      return { value: env, source: `${option.env} (environment)`, origin: 'environment' };
    }
    const value = file?.values[option.env];
    return value ? { value, source: `${option.env} (${file.path})`, origin: 'file' } : null;
  };
  return {
    find,
    list(name) {
      const found = find(name);
      if (found === null) return [];
      const values =
        found.origin === 'flag' ? flagged(sources.flags, OPTIONS[name]) : parseList(found.value);
      return values.map((value) => ({ ...found, value }));
    },
    envFile: file?.path ?? null,
    warnings: [
      file?.warning ?? null,
      unknownNames(namesIn(sources.env), 'environment'),
      file && unknownNames(namesIn(file.values), file.path),
    ].filter((warning) => warning !== null),
  };
}

/** Parses the value of a setting. Throws {@link ConfigError} that names where the value was found. */
export function parseFound<T>(found: Found, parser: (text: string) => Parsed<T>): T {
  const result = parser(found.value.trim());
  if ('value' in result) return result.value;
  throw new ConfigError(`${found.source} ${result.problem}.`);
}

function flagged(flags: Flags, { flag }: OptionSpec): readonly string[] {
  const given = flags[flag];
  if (given === undefined || given === false) return [];
  if (given === true) return ['true'];
  return typeof given === 'string' ? [given] : given;
}

function namesIn(values: Sources['env']): string[] {
  return Object.keys(values).filter((name) => values[name] !== undefined);
}

/** Returns whether a switch is on; one that was not given is off. Throws {@link ConfigError} for another word. */
export function readSwitch(found: Found | null): boolean {
  const value =
    found &&
    parseFound(found, oneOf(['true', '1', 'yes', 'on', 'false', '0', 'no', 'off'] as const));
  return value !== null && ['true', '1', 'yes', 'on'].includes(value);
}

/** Returns a parser of a word, in any case, that is one of these. */
export function oneOf<const T extends string>(allowed: readonly T[]): (text: string) => Parsed<T> {
  return (text) => {
    const value = allowed.find((candidate) => candidate === text.toLowerCase());
    return value === undefined ? { problem: `must be one of ${allowed.join(', ')}` } : { value };
  };
}
