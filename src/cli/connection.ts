import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { parseWebUrl } from '../config/network.ts';
import { OPTIONS } from '../config/options.ts';
import { ConfigError, type Found, openSettings } from '../config/sources.ts';
import { decodeCredentials } from '../model/credentials.ts';
import type { CliIo } from './io.ts';

/** Flags that every command which speaks to a running sidecar takes. */
export interface ConnectionFlags {
  readonly url?: string;
  readonly clientCredentials?: string;
  readonly clientCredentialsPath?: string;
  readonly json?: boolean;
}

const HEADING = 'Connection and output:';

/** Gives a command {@link ConnectionFlags}, under a heading of their own. */
export function withConnection(command: Command): Command {
  const { clientCredentials, clientCredentialsPath, sidecarUrl } = OPTIONS;
  return command
    .addOption(
      new Option(
        '--url <url>',
        `Base URL of the sidecar. [${sidecarUrl.env}; default: http://${OPTIONS.listenAddr.fallback}]`,
      ).helpGroup(HEADING),
    )
    .addOption(
      new Option(
        `--${clientCredentials.flag} <${clientCredentials.value}>`,
        `Client credentials to call with. [${clientCredentials.env}; default: those of the sidecar]`,
      ).helpGroup(HEADING),
    )
    .addOption(
      new Option(
        `--${clientCredentialsPath.flag} <${clientCredentialsPath.value}>`,
        `File that holds them. [${clientCredentialsPath.env}]`,
      ).helpGroup(HEADING),
    )
    .addOption(new Option('--json', 'Print the JSON of the API.').helpGroup(HEADING));
}

/** Where the sidecar is and with what to call it. Throws {@link ConfigError}. */
export function connectionOf(
  io: CliIo,
  flags: ConnectionFlags,
): { baseUrl: string; credentials: string | null } {
  const { find } = openSettings({ flags: {}, env: io.env, cwd: io.cwd });
  const listen = find('listenAddr')?.value ?? OPTIONS.listenAddr.fallback;
  const url: Found = flagged('--url', flags.url) ??
    find('sidecarUrl') ?? {
      value: `http://${listen}`,
      source: 'The listen address',
      origin: 'default',
    };
  const parsed = parseWebUrl(url.value);
  if ('problem' in parsed) throw new ConfigError(`${url.source} ${parsed.problem}.`);

  const value = flagged('--client-credentials', flags.clientCredentials);
  const path = flagged('--client-credentials-path', flags.clientCredentialsPath);
  // A flag is about this one call, so it puts aside both forms of what the environment says.
  const given =
    value || path
      ? { value, path }
      : { value: find('clientCredentials'), path: find('clientCredentialsPath') };
  return { baseUrl: parsed.value, credentials: credentialsOf(given.value, given.path) };
}

function flagged(source: string, value: string | undefined): Found | null {
  return value === undefined ? null : { value, source, origin: 'flag' };
}

function credentialsOf(value: Found | null, path: Found | null): string | null {
  if (value && path) {
    throw new ConfigError(`${value.source} and ${path.source} are both set: keep one of them.`);
  }
  const found = path === null ? value : { ...path, value: readText(path) };
  if (found === null) return null;
  const credentials = found.value.trim();
  if (decodeCredentials(credentials)) return credentials;
  throw new ConfigError(
    `${found.source} does not hold client credentials: copy the whole string that "clients create" printed.`,
  );
}

function readText({ value, source }: Found): string {
  try {
    return readFileSync(value, 'utf8');
  } catch {
    throw new ConfigError(`${source} names a file that cannot be read: ${value}.`);
  }
}
