import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OptionName } from './options.ts';
import { readText } from './secrets.ts';
import { ConfigError, type Found, type Settings, type Sources } from './sources.ts';

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
 * {@link ConfigError} where one cannot be read, or where all that are passed are blank and no further node is named:
 * there would be no wallet.
 */
export function withSystemdCredentials(
  settings: Settings,
  { CREDENTIALS_DIRECTORY: folder }: Sources['env'],
): Settings {
  if (!folder || WALLET_SETTINGS.some((name) => settings.find(name) !== null)) return settings;
  if (!existsSync(folder)) {
    throw new ConfigError(
      `systemd passed no credentials: the folder ${folder}, which CREDENTIALS_DIRECTORY names, does not exist. Start the service again; in a container, allow it to mount file systems.`,
    );
  }
  const passed = Object.entries(CREDENTIALS)
    .map(([name, file]) => ({ name, found: credential(folder, file) }))
    .filter(({ found }) => existsSync(found.value));
  const filled = passed.filter(({ found }) => readText(found) !== '');
  const hasNodes = settings.find('nodeCredentialsPath') !== null;
  if (passed.length > 0 && filled.length === 0 && !hasNodes) {
    throw new ConfigError(
      'The service has no wallet: put client credentials into /etc/wallet-sidecar/client-credentials or a root seed into /etc/wallet-sidecar/root-seed, and start it again.',
    );
  }
  return {
    ...settings,
    find: (name) => filled.find((one) => one.name === name)?.found ?? settings.find(name),
  };
}

function credential(folder: string, file: string): Found {
  return {
    value: join(folder, file),
    source: `systemd credential ${file}`,
    origin: 'environment',
  };
}
