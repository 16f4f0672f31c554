import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OptionName } from './options.ts';
import { ConfigError, type Settings, type Sources } from './sources.ts';

/** The settings that systemd can pass as files, each with the credential's name (`LoadCredential=` of a unit). */
const CREDENTIALS = {
  clientCredentialsPath: 'client-credentials',
  rootSeedPath: 'root-seed',
} as const satisfies Partial<Record<OptionName, string>>;

/** Any of these says whose wallet it is, so that the credentials of systemd are not looked at. */
const WALLET_SETTINGS = [
  'rootSeed',
  'rootSeedPath',
  'clientCredentials',
  'clientCredentialsPath',
] as const satisfies readonly OptionName[];

/**
 * Returns the settings with those that systemd passes as credentials, where the settings themselves name no wallet. A
 * blank credential is none, since the unit passes one in the place of a file that is missing. Throws
 * {@link ConfigError} where all that are passed are blank and no further node is named: there would be no wallet.
 */
export function withSystemdCredentials(
  settings: Settings,
  { CREDENTIALS_DIRECTORY: folder }: Sources['env'],
): Settings {
  if (!folder || WALLET_SETTINGS.some((name) => settings.find(name) !== null)) return settings;
  const passed = Object.entries(CREDENTIALS)
    .map(([name, file]) => ({ name, file, path: join(folder, file) }))
    .filter(({ path }) => existsSync(path));
  const filled = passed.filter(({ path }) => readFileSync(path, 'utf8').trim() !== '');
  const hasNodes = settings.find('nodeCredentialsPath') !== null;
  if (passed.length > 0 && filled.length === 0 && !hasNodes) {
    throw new ConfigError(
      'The service has no wallet: put client credentials into /etc/wallet-sidecar/client-credentials or a root seed into /etc/wallet-sidecar/root-seed, and start it again.',
    );
  }
  return {
    ...settings,
    find(name) {
      const found = filled.find((one) => one.name === name);
      if (!found) return settings.find(name);
      return {
        value: found.path,
        source: `systemd credential ${found.file}`,
        origin: 'environment',
      };
    },
  };
}
