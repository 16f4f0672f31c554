import { type Command, Option } from 'commander';
import { defaultDataDir } from '../config/default-data-dir.ts';
import { localUrl, parseBaseUrl, parseListenAddress } from '../config/network.ts';
import { OPTIONS } from '../config/options.ts';
import { bothSet, readText } from '../config/secrets.ts';
import {
  ConfigError,
  ENV_FILE,
  type Found,
  openSettings,
  parseFound,
  readSwitch,
  type Settings,
} from '../config/sources.ts';
import { isLoopbackHost } from '../lib/network/loopback-host.ts';
import { decodeCredentials } from '../model/credentials.ts';
import { cookieFor, mayNotLook, notedUrl } from './cookie.ts';
import type { CliIo } from './io.ts';
import { envFileOption } from './setting-flag.ts';

/** The flags of every command that calls a running sidecar. */
export interface ConnectionFlags {
  readonly url?: string;
  readonly clientCredentials?: string;
  readonly clientCredentialsPath?: string;
  readonly dataDir?: string;
  /** False where --no-cookie was given. */
  readonly cookie?: boolean;
  readonly envFile?: string;
  readonly json?: boolean;
}

/** The data directory that is none. */
const IN_MEMORY = ':memory:';

const HEADING = 'Connection and output:';

/** Adds {@link ConnectionFlags} to a command, under a heading of their own. */
export function withConnection(command: Command): Command {
  const { clientCredentials, clientCredentialsPath, dataDir, noCookie, sidecarUrl } = OPTIONS;
  const options = [
    new Option(
      '--url <url>',
      `Base URL of the sidecar. [${sidecarUrl.env}; default: where the sidecar of --${dataDir.flag} listens, else http://${OPTIONS.listenAddr.fallback}]`,
    ),
    new Option(
      `--${clientCredentials.flag} <${clientCredentials.value}>`,
      `Client credentials to use. [${clientCredentials.env}; default: the cookie of the sidecar on this machine]`,
    ),
    new Option(
      `--${clientCredentialsPath.flag} <${clientCredentialsPath.value}>`,
      `File that holds the client credentials. [${clientCredentialsPath.env}]`,
    ),
    new Option(
      `--${dataDir.flag} <${dataDir.value}>`,
      `Data directory of the sidecar on this machine, where its address and its cookie are. [${dataDir.env}]`,
    ),
    new Option(`--${noCookie.flag}`, `${noCookie.description} [${noCookie.env}]`),
    envFileOption(),
    utcOption(),
    new Option('--json', 'Print the JSON of the API.'),
  ];
  for (const option of options) command.addOption(option.helpGroup(HEADING));
  return command;
}

/** The flag by which times are UTC, in what is shown and in what is typed. {@link timesInUtc} obeys it. */
const UTC = '--utc';

/** Returns the flag that makes all times UTC. */
export function utcOption(): Option {
  return new Option(UTC, 'Times in UTC, in place of the time zone of this machine.');
}

/**
 * Sets the time zone of this process to UTC where the words of a command ask for it. It must be called before flags are
 * read, because times among them are read in that zone.
 */
export function timesInUtc(words: readonly string[]): void {
  if (words.includes(UTC)) process.env.TZ = 'UTC';
}

/** The sidecar's address and the credentials to use. */
export interface Connection {
  readonly baseUrl: string;
  /** The text that follows `Bearer`; null sends no header. */
  readonly token: string | null;
  /** Whether the user gave credentials. If not, the owner's cookie is used where there is one. */
  readonly given: boolean;
  /** Where the cookie was looked for. */
  readonly dataDir: string;
  /** Whether the user named a data directory on which no sidecar runs, and no address, so that none is called. */
  readonly isAway: boolean;
}

/**
 * Reads the sidecar's address and the credentials from flags, environment and `.env`. Credentials are sent only to
 * loopback or over https. They are not sent to an address that a `.env` named, unless that file holds the credentials
 * too (docs/decisions.md 103). Throws {@link ConfigError}.
 */
export function connectionOf(io: CliIo, flags: ConnectionFlags): Connection {
  const settings = settingsOf(io, flags);
  const dir = dataDirOf(settings, io, flags);
  const { isAway, ...target } = targetOf(settings, flags, dir);
  const credentials = credentialsOf(givenCredentials(settings, flags));
  const connection = { baseUrl: target.value, dataDir: dir.value, isAway };
  if (credentials !== null) {
    requireSafeTarget(target, credentials);
    return { ...connection, token: credentials.value, given: true };
  }
  requireMayUseCookie(settings, flags);
  const cookie = isConfidential(target.value) ? cookieFor(target.value, dir.value) : null;
  return { ...connection, token: null, ...cookie, given: false };
}

/** Reads the settings of this machine that a command may use besides its own flags. Throws {@link ConfigError}. */
export function settingsOf(io: CliIo, { envFile }: Pick<ConnectionFlags, 'envFile'>): Settings {
  return openSettings({ flags: { [ENV_FILE.flag]: envFile }, env: io.env, cwd: io.cwd });
}

function dataDirOf({ find }: Settings, { env }: CliIo, flags: ConnectionFlags): Found {
  const source = 'the default data directory';
  return (
    flagged('--data-dir', flags.dataDir) ??
    find('dataDir') ?? { value: defaultDataDir(env), source, origin: 'default' }
  );
}

/**
 * Returns where to call. The data directory says it where nothing says it more closely: --data-dir goes before the
 * environment, a configured data directory before a listen address, the default one behind it (docs/decisions.md 181).
 */
function targetOf(
  { find }: Settings,
  flags: ConnectionFlags,
  dir: Found,
): Found & Pick<Connection, 'isAway'> {
  const url = notedUrl(dir.value);
  const noted = url === null ? null : { ...dir, value: url };
  const isNamed = dir.origin !== 'default';
  const listen = () => {
    const found = find('listenAddr');
    return found && { ...found, value: localUrl(parseFound(found, parseListenAddress)) };
  };
  const canTell = dir.value !== IN_MEMORY && mayNotLook(dir.value) === null;
  const isFlag = dir.origin === 'flag';
  const settings = () => find('sidecarUrl') ?? (isNamed ? noted : null) ?? listen() ?? noted;
  const named =
    flagged('--url', flags.url) ??
    (isFlag ? noted : null) ??
    // Settings may name another sidecar than the one that does not run.
    (isFlag && canTell ? null : settings());
  if (named !== null) return { ...named, value: parseFound(named, parseBaseUrl), isAway: false };
  // Another sidecar may listen at the default address, and a payment must not leave from its wallet.
  const isAway = isNamed && canTell;
  const { fallback, flag } = OPTIONS.listenAddr;
  return { value: `http://${fallback}`, source: `--${flag}`, origin: 'default', isAway };
}

/** Throws {@link ConfigError} where a wrapper keeps the owner's cookie from its commands (docs/decisions.md 180). */
function requireMayUseCookie({ find }: Settings, { cookie }: ConnectionFlags): void {
  const source = cookie === false ? '--no-cookie' : OPTIONS.noCookie.env;
  if (cookie !== false && !readSwitch(find('noCookie'))) return;
  throw new ConfigError(
    `${source} keeps this command from the owner's cookie, and it has no credentials: give --client-credentials-path.`,
  );
}

/** A flag concerns this one call, so it replaces both forms of the setting in the environment. */
function givenCredentials({ find }: Settings, flags: ConnectionFlags) {
  const value = flagged('--client-credentials', flags.clientCredentials);
  const path = flagged('--client-credentials-path', flags.clientCredentialsPath);
  return value || path
    ? { value, path }
    : { value: find('clientCredentials'), path: find('clientCredentialsPath') };
}

/** Credentials, and whether they come from a file that the setting names. */
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
  // A path in the `.env` may point to secrets of another user. So the `.env` alone cannot send those beyond this
  // machine.
  const together = credentials.origin === 'file' && (!credentials.fromPath || isLocal(url));
  if (together) return;
  throw new ConfigError(
    `The address ${url} comes from ${source}, but the credentials come from ${credentials.source}, so they are not sent there: give --url if the address is right.`,
  );
}

function isConfidential(url: string): boolean {
  return new URL(url).protocol === 'https:' || isLocal(url);
}

/** Returns whether a URL leads to this machine. */
export function isLocal(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

function flagged(source: string, value: string | undefined): Found | null {
  return value === undefined ? null : { value, source, origin: 'flag' };
}
