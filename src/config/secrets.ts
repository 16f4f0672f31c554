import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readableByOthers } from './file-access.ts';
import { OPTIONS, type OptionName } from './options.ts';
import { ConfigError, type Found, type Settings, type Sources } from './sources.ts';

/** Settings whose value is a secret, each with the setting that names a file instead. */
const SECRETS = {
  rootSeed: 'rootSeedPath',
  clientCredentials: 'clientCredentialsPath',
  webhookSecret: 'webhookSecretPath',
  databaseUrl: 'databaseUrlPath',
  secretsKey: 'secretsKeyPath',
} as const satisfies Partial<Record<OptionName, OptionName>>;

/** Reads secrets from values and files. Collects a warning for each secret that other users could read. */
export function secretReader(settings: Settings, env: Sources['env']) {
  const warnings: string[] = [];
  const fromFile = (path: Found): Found => {
    const value = readText(path);
    const warning = isSystemdCredential(path.value, env)
      ? null
      : readableByOthers(path.value, statSync(path.value));
    if (warning !== null) warnings.push(warning);
    return { ...path, value, source: `${path.source} ${path.value}` };
  };
  return {
    warnings,
    fromFile,
    /** Returns the secret from its value or from its file. Throws {@link ConfigError} when both are set. */
    secret(name: keyof typeof SECRETS): Found | null {
      const twin = SECRETS[name];
      const value = settings.find(name);
      const path = settings.find(twin);
      if (value && path) throw bothSet(value, path);
      if (path) return fromFile(path);
      if (value?.origin === 'flag') warnings.push(inProcessTable(name, twin));
      return value;
    },
  };
}

/** Makes the error for two settings that exclude each other. */
export function bothSet(a: Found, b: Found): ConfigError {
  return new ConfigError(`${a.source} and ${b.source} are both set: keep one of them.`);
}

/** Returns the trimmed text of a file that a setting names. Throws {@link ConfigError} when it cannot be read. */
export function readText(path: Found): string {
  try {
    return readFileSync(path.value, 'utf8').trim();
  } catch {
    throw new ConfigError(`${path.source} names a file that cannot be read: ${path.value}.`);
  }
}

function inProcessTable(name: OptionName, twin: OptionName): string {
  return `--${OPTIONS[name].flag} shows its secret to other users of this machine in the list of processes: use --${OPTIONS[twin].flag} instead.`;
}

/**
 * Whether a file is a systemd credential. systemd lets the service read it by an ACL, which `stat` shows as permission
 * of the group; other users cannot enter its folder.
 */
function isSystemdCredential(
  path: string,
  { CREDENTIALS_DIRECTORY: folder }: Sources['env'],
): boolean {
  return Boolean(folder) && dirname(resolve(path)) === resolve(folder ?? '');
}
