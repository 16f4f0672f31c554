import { type Command, Option } from 'commander';
import { defaultDataDir } from '../config/default-data-dir.ts';
import { isLoopbackHost, localUrl, parseListenAddress, parseWebUrl } from '../config/network.ts';
import { OPTIONS } from '../config/options.ts';
import { bothSet, readText } from '../config/secrets.ts';
import {
  ConfigError,
  type Found,
  openSettings,
  parseFound,
  type Settings,
} from '../config/sources.ts';
import { decodeCredentials } from '../model/credentials.ts';
import { cookieFor } from './cookie.ts';
import type { CliIo } from './io.ts';

/** Flags that every command which speaks to a running sidecar takes. */
export interface ConnectionFlags {
  readonly url?: string;
  readonly clientCredentials?: string;
  readonly clientCredentialsPath?: string;
  readonly dataDir?: string;
  readonly json?: boolean;
}

const HEADING = 'Connection and output:';

/** Gives a command {@link ConnectionFlags}, under a heading of their own. */
export function withConnection(command: Command): Command {
  const { clientCredentials, clientCredentialsPath, dataDir, sidecarUrl } = OPTIONS;
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
        `Client credentials to call with. [${clientCredentials.env}; default: the cookie of the sidecar on this machine]`,
      ).helpGroup(HEADING),
    )
    .addOption(
      new Option(
        `--${clientCredentialsPath.flag} <${clientCredentialsPath.value}>`,
        `File that holds them. [${clientCredentialsPath.env}]`,
      ).helpGroup(HEADING),
    )
    .addOption(
      new Option(
        `--${dataDir.flag} <${dataDir.value}>`,
        `Data directory of the sidecar on this machine, where its cookie is. [${dataDir.env}]`,
      ).helpGroup(HEADING),
    )
    .addOption(new Option('--json', 'Print the JSON of the API.').helpGroup(HEADING));
}

/** Where the sidecar is and with what to call it. */
export interface Connection {
  readonly baseUrl: string;
  /** What follows `Bearer`; null sends no header. */
  readonly token: string | null;
  /** Whether credentials were given, rather than the owner's cookie looked for. */
  readonly given: boolean;
}

/**
 * Reads where the sidecar is and what to send. Credentials leave only for loopback or over https, and never for an
 * address that a `.env` named, unless that file itself holds them (decisions section 1). Throws {@link ConfigError}.
 */
export function connectionOf(io: CliIo, flags: ConnectionFlags): Connection {
  const settings = openSettings({ flags: {}, env: io.env, cwd: io.cwd });
  const target = targetOf(settings, flags);
  const credentials = credentialsOf(givenCredentials(settings, flags));
  if (credentials !== null) {
    requireSafeTarget(target, credentials);
    return { baseUrl: target.value, token: credentials.value, given: true };
  }
  const dataDir = flags.dataDir ?? settings.find('dataDir')?.value ?? defaultDataDir(io.env);
  const token = isConfidential(target.value) ? cookieFor(target.value, dataDir) : null;
  return { baseUrl: target.value, token, given: false };
}

function targetOf({ find }: Settings, flags: ConnectionFlags): Found {
  const named = flagged('--url', flags.url) ?? find('sidecarUrl');
  if (named !== null) return { ...named, value: parseFound(named, parseWebUrl) };
  const { fallback, flag } = OPTIONS.listenAddr;
  const listen = find('listenAddr') ?? { value: fallback, source: `--${flag}`, origin: 'default' };
  return { ...listen, value: localUrl(parseFound(listen, parseListenAddress)) };
}

/** A flag is about this one call, so it puts aside both forms of what the environment says. */
function givenCredentials({ find }: Settings, flags: ConnectionFlags) {
  const value = flagged('--client-credentials', flags.clientCredentials);
  const path = flagged('--client-credentials-path', flags.clientCredentialsPath);
  return value || path
    ? { value, path }
    : { value: find('clientCredentials'), path: find('clientCredentialsPath') };
}

/** Credentials, and whether they stood in the setting itself or in a file that it names. */
interface Given extends Found {
  readonly fromPath: boolean;
}

function credentialsOf(given: { value: Found | null; path: Found | null }): Given | null {
  const { value, path } = given;
  if (value && path) throw bothSet(value, path);
  const found = path === null ? value : { ...path, value: readText(path) };
  if (found === null) return null;
  const credentials = found.value.trim();
  if (decodeCredentials(credentials)) {
    return { ...found, value: credentials, fromPath: path !== null };
  }
  throw new ConfigError(
    `${found.source} does not hold client credentials: copy the whole string that "clients create" printed.`,
  );
}

function requireSafeTarget(target: Found, credentials: Given): void {
  const { value: url, source, origin } = target;
  if (!isConfidential(url)) {
    throw new ConfigError(
      `Credentials are sent only to this machine or over https, and ${source} names ${url}: give an https URL with --url.`,
    );
  }
  if (origin !== 'file') return;
  // A path in the file may lead to secrets that are none of it, so the file alone sends those nowhere else.
  const together = credentials.origin === 'file' && (!credentials.fromPath || isLocal(url));
  if (together) return;
  throw new ConfigError(
    `${source} names where to call, and the credentials are from elsewhere (${credentials.source}), so they are not sent there: give --url if ${url} is right.`,
  );
}

function isConfidential(url: string): boolean {
  return new URL(url).protocol === 'https:' || isLocal(url);
}

/** Whether a URL leads to this machine alone. */
export function isLocal(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

function flagged(source: string, value: string | undefined): Found | null {
  return value === undefined ? null : { value, source, origin: 'flag' };
}
