import { systemClock } from '../lib/clock.ts';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../lib/log-levels.ts';
import { isLoopbackHost } from '../lib/network/loopback-host.ts';
import type { ChannelPeer } from '../model/channel.ts';
import { parseRelay } from '../model/clients/nwc.ts';
import { decodeCredentials } from '../model/credentials.ts';
import type { FeePolicy } from '../model/fee-cap.ts';
import type { Parsed } from '../model/parsed.ts';
import { parseRateSource, type RateSource } from '../model/prices/rate-source.ts';
import type { ProxyAddress } from '../model/proxy-address.ts';
import { parseRootSeed } from '../model/root-seed.ts';
import { parseServerUrl, parseWebUrl } from '../model/web-url.ts';
import { DELIVERY_EVENTS, type WebhookEvent } from '../model/webhooks/delivery.ts';
import { parseWebhookSecret } from '../model/webhooks/webhook-secret.ts';
import { asSecretsKey, type DatabaseConfig, databaseOf } from './database.ts';
import { defaultDataDir } from './default-data-dir.ts';
import { feePolicyOf } from './fee-policy.ts';
import { type LdkConfig, ldkOf } from './ldk.ts';
import {
  parseDomain,
  parseIp,
  parseList,
  parseListenAddress,
  parsePeer,
  parseProxyAddress,
} from './network.ts';
import { OPTIONS } from './options.ts';
import { bothSet, readText, secretReader } from './secrets.ts';
import {
  ConfigError,
  type Found,
  oneOf,
  openSettings,
  parseFound,
  readSwitch,
  type Sources,
} from './sources.ts';
import { withSystemdCredentials } from './systemd-credentials.ts';

/** The validated configuration. Secrets are values here and nowhere in messages. */
export interface Config {
  readonly listen: { readonly host: string; readonly port: number };
  /** Null: the URL is made from the address that the server listens on. */
  readonly sidecarUrl: string | null;
  /** Directory, or `:memory:`. */
  readonly dataDir: string;
  /** The marker file, which shows that a database was restored (docs/decisions.md 69); null is the default place. */
  readonly markerPath: string | null;
  /** The PostgreSQL database; null: SQLite in the data directory. */
  readonly database: DatabaseConfig | null;
  /**
   * 32 bytes, with which rows are signed, and secrets in a PostgreSQL database sealed; null where a file is not signed
   * (docs/decisions.md 138, 171).
   */
  readonly secretsKey: Uint8Array | null;
  readonly rootSeed: Uint8Array | null;
  readonly clientCredentials: string | null;
  /** The setting that `clientCredentials` comes from, for messages. */
  readonly clientCredentialsSource: string | null;
  /** The file that they come from; null where they are given themselves. */
  readonly clientCredentialsPath: string | null;
  /** The LND that the root seed controls; null is the sandbox. */
  readonly node: { readonly url: string; readonly cert: string | null } | null;
  /** The embedded LDK node that the root seed controls; null: none. */
  readonly ldk: LdkConfig | null;
  readonly nodeCertPath: string | null;
  /** The SOCKS5 proxy for every connection to a real node; null is none. */
  readonly nodeProxy: ProxyAddress | null;
  /** Credentials of further nodes, as `connect` wrote them, each with the setting that it comes from, for messages. */
  readonly nodeCredentials: readonly {
    readonly text: string;
    readonly source: string;
    readonly path: string;
  }[];
  /** Hex node key and host with port. */
  readonly channelPeer: ChannelPeer | null;
  /** Payments made before this time, in milliseconds, and over are left out of a first reading; null: none. */
  readonly historySinceMs: number | null;
  readonly webhookUrl: string | null;
  readonly webhookEvents: readonly WebhookEvent[];
  /** Base64 without prefix. */
  readonly webhookSecret: string | null;
  /** In lower case, and with a port where it has one. */
  readonly addressDomain: string | null;
  readonly dohUrl: string;
  readonly allowHosts: readonly string[];
  readonly allowPrivateNetwork: boolean;
  /** Canonical IP addresses. */
  readonly trustedProxies: readonly string[];
  readonly requireAuth: boolean;
  readonly maxFee: FeePolicy;
  /** For how long a payment waits for approval. */
  readonly approvalSecs: number;
  /** Whether agents may spend with credentials that have no budget. */
  readonly mcpAllowUnlimited: boolean;
  /** Where phoenixd's API is served; null: nowhere. */
  readonly phoenixdListen: { readonly host: string; readonly port: number } | null;
  /** The relays of Nostr Wallet Connect for pairings that name none. */
  readonly nwcRelays: readonly string[];
  /** Whether GET /metrics is served. */
  readonly metrics: boolean;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** Who says what a bitcoin costs; without any there are no prices in currencies. */
  readonly rateSources: readonly RateSource[];
  readonly buyLinkTemplate: string;
  readonly sandboxBlockSecs: number;
  /** Sentences for the log and for health, such as a seed file that others can read. */
  readonly warnings: readonly string[];
  /** Sentences for the log alone, such as which `.env` was read. */
  readonly notes: readonly string[];
}

/** Reads, checks and freezes the configuration. Throws {@link ConfigError}. */
export function loadConfig(sources: Sources): Config {
  const settings = withSystemdCredentials(openSettings(sources), sources.env);
  const { find, envFile } = settings;
  const { secret, fromFile, warnings } = secretReader(settings, sources.env);
  const seedText = secret('rootSeed');
  const clientCredentials = secret('clientCredentials');
  if (seedText && clientCredentials) throw bothSet(seedText, clientCredentials);

  const databaseUrl = secret('databaseUrl');
  const secretsKey = parse(secret('secretsKey'), asSecretsKey);
  const database = databaseOf({
    url: databaseUrl,
    key: secretsKey,
    leaseSecs: find('databaseLeaseSecs'),
    peerUrl: find('peerUrl'),
  });
  const listen = parse(find('listenAddr'), parseListenAddress) ?? { host: '127.0.0.1', port: 5393 };
  const rootSeed = parse(seedText, asRootSeed);
  const dataDir = find('dataDir')?.value ?? defaultDataDir(sources.env);
  return Object.freeze({
    listen,
    sidecarUrl: parse(find('sidecarUrl'), parseServerUrl),
    dataDir,
    markerPath: find('markerPath')?.value ?? null,
    database,
    secretsKey,
    rootSeed,
    clientCredentials: clientCredentials && parse(clientCredentials, asCredentials),
    clientCredentialsSource: clientCredentials?.source ?? null,
    clientCredentialsPath: find('clientCredentialsPath')?.value ?? null,
    node: nodeOf(find('nodeUrl'), find('nodeCertPath')),
    ldk: ldkOf(settings, { rootSeed, dataDir }),
    nodeCertPath: find('nodeCertPath')?.value ?? null,
    nodeProxy: parse(find('nodeProxy'), parseProxyAddress),
    nodeCredentials: settings
      .list('nodeCredentialsPath')
      .map((path) => nodeCredentialsOf(path, fromFile)),
    channelPeer: parse(find('channelPeer'), parsePeer),
    historySinceMs: parse(find('historySince'), asPastDay),
    webhookUrl: parse(find('webhookUrl'), parseWebUrl),
    webhookEvents: parse(find('webhookEvents'), asWebhookEvents) ?? [ALWAYS_SENT],
    webhookSecret: parse(secret('webhookSecret'), parseWebhookSecret),
    addressDomain: parse(find('addressDomain'), parseDomain),
    dohUrl: parse(find('dohUrl'), asHttpsUrl) ?? OPTIONS.dohUrl.fallback,
    allowHosts: parseList(find('allowHost')?.value.toLowerCase() ?? ''),
    allowPrivateNetwork: readSwitch(find('allowPrivateNetwork')),
    trustedProxies: settings.list('trustedProxy').map((one) => parseFound(one, parseIp)),
    requireAuth: readSwitch(find('requireAuth')),
    maxFee: feePolicyOf(settings),
    approvalSecs: parse(find('approvalSecs'), asApprovalSecs) ?? 3600,
    mcpAllowUnlimited: readSwitch(find('mcpAllowUnlimited')),
    phoenixdListen: parse(find('phoenixdListenAddr'), parseListenAddress),
    nwcRelays: settings.list('nwcRelay').map((one) => parseFound(one, parseRelay)),
    // Metrics reveal activity, so they are off by default when the sidecar listens beyond loopback.
    metrics: find('metrics') ? readSwitch(find('metrics')) : isLoopbackHost(listen.host),
    logLevel: parse(find('logLevel'), oneOf(LOG_LEVELS)) ?? 'info',
    logFormat: parse(find('logFormat'), oneOf(LOG_FORMATS)) ?? 'text',
    rateSources: settings.list('rateSource').map((one) => parseFound(one, parseRateSource)),
    buyLinkTemplate: parse(find('buyLinkTemplate'), asTemplate) ?? OPTIONS.buyLinkTemplate.fallback,
    sandboxBlockSecs: parse(find('sandboxBlockSecs'), asSeconds) ?? 10,
    warnings: [...settings.warnings, ...warnings, ...(database?.warnings ?? [])],
    notes: envFile === null ? [] : [`Settings are read from ${envFile}.`],
  });
}

function parse<T>(found: Found | null, parser: (text: string) => Parsed<T>): T | null {
  return found && parseFound(found, parser);
}

function nodeCredentialsOf(path: Found, fromFile: (path: Found) => Found) {
  const { value: text, source } = fromFile(path);
  if (text === '') throw new ConfigError(`${source} is an empty file.`);
  return { text, source, path: path.value };
}

function nodeOf(url: Found | null, certPath: Found | null): Config['node'] {
  const parsed = parse(url, asHttpsUrl);
  if (parsed !== null) return { url: parsed, cert: certPath && readText(certPath) };
  if (certPath) throw new ConfigError(`${certPath.source} needs --node-url beside it.`);
  return null;
}

function asRootSeed(text: string): Parsed<Uint8Array> {
  const value = parseRootSeed(text);
  if (value) return { value };
  const form = '64 hex characters or a 24-word BIP 39 phrase: "wallet-sidecar seed new" makes one';
  const count = text.split(/\s+/).length;
  // Other wallets have phrases of these lengths. Their words are no secret to hide from their owner.
  return [12, 15, 18, 21].includes(count)
    ? { problem: `holds a phrase of ${count} words, and a root seed is ${form}` }
    : { problem: `does not hold a root seed, which is ${form}` };
}

function asCredentials(text: string): Parsed<string> {
  return decodeCredentials(text)
    ? { value: text }
    : {
        problem:
          'does not hold client credentials: copy the whole string that create_client answered',
      };
}

/** Requires https: requests carry macaroons in a header, and looked-up names must be neither read nor changed. */
function asHttpsUrl(text: string): Parsed<string> {
  const parsed = parseServerUrl(text);
  if ('value' in parsed && !parsed.value.startsWith('https://')) {
    return { problem: 'must begin with https://' };
  }
  return parsed;
}

/** The event that --webhook-url always receives, since no payment may end unheard (docs/decisions.md 164). */
const ALWAYS_SENT: WebhookEvent = 'payment.finalized';

function asWebhookEvents(text: string): Parsed<readonly WebhookEvent[]> {
  const named = parseList(text);
  const value = DELIVERY_EVENTS.filter((event) => named.includes(event));
  const areKnown = named.every((name) => value.some((event) => event === name));
  if (areKnown && value.includes(ALWAYS_SENT)) return { value };
  return {
    problem: `must be ${ALWAYS_SENT}, alone or with others of ${DELIVERY_EVENTS.join(', ')}`,
  };
}

/** The beginning of a past day or of today (UTC) in milliseconds. A day that does not exist has none. */
function asPastDay(text: string): Parsed<number> {
  const value = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(value) || !new Date(value).toISOString().startsWith(text)) {
    return { problem: 'must be a day, such as 2026-01-31' };
  }
  // A later day would leave out payments that are still to come.
  return value > systemClock.now()
    ? { problem: 'must not be in the future (UTC), or payments would be left out' }
    : { value };
}

function asSeconds(text: string): Parsed<number> {
  return /^\d{1,6}$/.test(text)
    ? { value: Number(text) }
    : { problem: 'must be a whole number of seconds' };
}

function asApprovalSecs(text: string): Parsed<number> {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return value >= 10 && value <= 604_800
    ? { value }
    : { problem: 'must be a whole number of seconds from 10 to 604800' };
}

function asTemplate(text: string): Parsed<string> {
  return text.includes('<invoice>')
    ? { value: text }
    : { problem: 'must hold <invoice> where the invoice goes' };
}
