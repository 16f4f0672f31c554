import { LOG_FORMATS, LOG_LEVELS } from '../lib/log-levels.ts';

/** What a setting does. */
interface OptionFacts {
  /** The environment variable, where it is not called as the flag is. */
  readonly env?: string;
  /** Placeholder of the value in the help; absent for switches. */
  readonly value?: string;
  readonly description: string;
  /** The default, in words. */
  readonly fallback: string;
  /** Its value never appears in messages. */
  readonly secret?: boolean;
  readonly repeatable?: boolean;
  /** Read by the commands that call a sidecar, and not by the server. */
  readonly forCalls?: boolean;
}

/** One setting, with its names as a flag, without the dashes, and as an environment variable. */
export interface OptionSpec extends OptionFacts {
  readonly flag: string;
  readonly env: string;
}

/** Every setting. The command line, its help, the documentation and `.env.example` are made from this table. */
export const OPTIONS = named({
  listenAddr: {
    value: 'host:port',
    description: 'Address to listen on.',
    fallback: '127.0.0.1:5393',
  },
  sidecarUrl: {
    value: 'url',
    description: 'Base URL under which callers reach the sidecar; used in callbacks.',
    fallback: 'http://<listen-addr>',
  },
  dataDir: {
    value: 'dir',
    description: 'Directory for everything kept; `:memory:` keeps nothing.',
    fallback: "the platform's data directory/wallet-sidecar",
  },
  markerPath: {
    value: 'file',
    description:
      'File outside the data directory and its backups, which shows when the database was restored.',
    fallback: '<data-dir>.marker',
  },
  databaseUrl: {
    value: 'url',
    description:
      'PostgreSQL database that holds everything kept, such as postgres://user:password@host/name. Not for the sandbox.',
    fallback: 'none: everything is kept in the data directory',
    secret: true,
  },
  databaseUrlPath: {
    value: 'file',
    description: 'File that holds the URL of the database.',
    fallback: 'none',
  },
  secretsKey: {
    value: 'key',
    description:
      '64 hex characters, with which what is stored is signed, and secrets in a PostgreSQL database are sealed.',
    fallback: 'none; --database-url needs it',
    secret: true,
  },
  secretsKeyPath: {
    value: 'file',
    description: 'File that holds the key for secrets.',
    fallback: 'none',
  },
  databaseLeaseSecs: {
    value: 'secs',
    description:
      'Seconds, from 2 to 60, after which another sidecar takes the PostgreSQL database over from one that is gone.',
    fallback: '10',
  },
  peerUrl: {
    value: 'url',
    description:
      'URL at which the other sidecars of the PostgreSQL database reach this one; with it, it stands by while another leads.',
    fallback: 'none: it does not start while another sidecar uses the database',
  },
  rootSeed: {
    value: 'seed',
    description: '64 hex characters or a 24-word BIP 39 phrase.',
    fallback: 'none',
    secret: true,
  },
  rootSeedPath: {
    value: 'file',
    description: 'File that holds the root seed.',
    fallback: 'none',
  },
  clientCredentials: {
    value: 'credentials',
    description: 'Default client credentials.',
    fallback: 'none',
    secret: true,
  },
  clientCredentialsPath: {
    value: 'file',
    description: 'File that holds the default client credentials.',
    fallback: 'none',
  },
  noCookie: {
    description: "Calls with given credentials alone, never with the owner's cookie.",
    fallback: 'off',
    forCalls: true,
  },
  node: {
    value: 'ldk',
    description: 'The embedded LDK node (experimental), which the root seed controls.',
    fallback: 'the node at --node-url or in the credentials, or else the sandbox',
  },
  network: {
    value: 'network',
    description: 'Network of the LDK node: bitcoin, testnet, signet or regtest.',
    fallback: 'none; --node ldk needs it',
  },
  esploraUrl: {
    value: 'url',
    description: 'Esplora server from which the LDK node reads the chain.',
    fallback: 'none; --node ldk needs it or --electrum-url',
  },
  electrumUrl: {
    value: 'url',
    description: 'Electrum server from which the LDK node reads the chain.',
    fallback: 'none; --node ldk needs it or --esplora-url',
  },
  lsp: {
    value: 'pubkey@host:port',
    description:
      'Node that opens a channel to the LDK node when a payment arrives that does not fit (LSPS2).',
    fallback: 'none: what does not fit cannot be received',
  },
  maxLspFee: {
    value: 'sats',
    description: 'The most that the LSP may take of a payment for opening a channel.',
    fallback: '5000',
  },
  lightningListenAddr: {
    value: 'host:port',
    description: 'Address at which other Lightning nodes reach the LDK node.',
    fallback: 'none: it connects to others, and no channel to it is opened',
  },
  experimentalMainnet: {
    description: 'Lets the LDK node, which is experimental, use real money.',
    fallback: 'off',
  },
  nodeUrl: {
    value: 'url',
    description: 'REST URL of the LND node that the root seed controls.',
    fallback: 'the built-in sandbox node',
  },
  nodeCertPath: {
    value: 'file',
    description: "The node's self-signed certificate (PEM), then the only one accepted.",
    fallback: "the system's certificate authorities",
  },
  nodeProxy: {
    value: 'host:port',
    description:
      'SOCKS5 proxy for every connection to a real node or a relay, as Tor has it at 127.0.0.1:9050.',
    fallback: 'none: nodes are reached directly',
  },
  channelPeer: {
    value: 'pubkey@host:port',
    description: 'Lightning node that open_channel opens channels to, on a real node.',
    fallback: 'none: a real node opens channels only where the request names a peer',
  },
  nodeCredentialsPath: {
    env: 'SERVICE_NODE_CREDENTIALS_PATHS',
    value: 'file',
    description:
      'File that "connect" wrote, for a further node that callers may use (repeatable; comma separated in the environment).',
    fallback: 'none',
    repeatable: true,
  },
  historySince: {
    value: 'date',
    description:
      'Payments of a real node that were over before this day (YYYY-MM-DD, UTC) are not read when a wallet is first followed.',
    fallback: 'none: the whole history is read',
  },
  webhookUrl: {
    value: 'url',
    description: 'Address that receives webhooks of every wallet.',
    fallback: 'none',
  },
  webhookEvents: {
    value: 'events',
    description:
      'Events that --webhook-url receives: payment.finalized, and payment.held, payment.approval_requested and client.budget_low if named (comma separated).',
    fallback: 'payment.finalized',
  },
  webhookSecret: {
    value: 'secret',
    description: 'Signing secret: base64 of 24 to 64 bytes, with or without whsec_.',
    fallback: 'none: webhooks are not signed',
    secret: true,
  },
  webhookSecretPath: {
    value: 'file',
    description: 'File that holds the signing secret.',
    fallback: 'none',
  },
  addressDomain: {
    value: 'domain',
    description: 'Domain of Human Bitcoin Addresses, at which payers reach this sidecar.',
    fallback: 'on the sandbox the listen address; on a real node there are no names',
  },
  dohUrl: {
    value: 'url',
    description:
      'DNS-over-HTTPS resolver (RFC 8484). It need not be trusted: DNSSEC is validated here.',
    fallback: 'https://cloudflare-dns.com/dns-query',
  },
  allowHost: {
    env: 'SERVICE_ALLOW_HOSTS',
    value: 'host',
    description:
      'Further Host header that may name this server (repeatable; comma separated in the environment).',
    fallback: 'loopback names, the listen address, the host of --sidecar-url',
    repeatable: true,
  },
  allowPrivateNetwork: {
    description: 'Lets LNURL requests reach private addresses.',
    fallback: 'off',
  },
  trustedProxy: {
    env: 'SERVICE_TRUSTED_PROXIES',
    value: 'address',
    description:
      'IP address of a reverse proxy whose X-Forwarded-For says where a payer is (repeatable; comma separated in the environment).',
    fallback: 'none: the source of a request is the other end of its connection',
    repeatable: true,
  },
  requireAuth: {
    description: 'Every route that is not public needs the Authorization header.',
    fallback: 'off',
  },
  maxFee: {
    value: 'share',
    description: 'Cap on routing fees: a percentage, never less than 10 sats.',
    fallback: '1%',
  },
  approvalSecs: {
    value: 'secs',
    description:
      'Seconds, from 10 to 604800, for which a payment waits for approval before it fails.',
    fallback: '3600',
  },
  mcpAllowUnlimited: {
    description: 'Lets agents spend over MCP with credentials that have no budget, the cookie too.',
    fallback: 'off',
  },
  phoenixdListenAddr: {
    value: 'host:port',
    description: "Address to serve phoenixd's HTTP API on, such as 127.0.0.1:9740.",
    fallback: 'none: it is not served',
  },
  nwcRelay: {
    env: 'SERVICE_NWC_RELAYS',
    value: 'url',
    description:
      'Relay over which applications that are paired by Nostr Wallet Connect are met, such as wss://relay.example (repeatable; comma separated in the environment).',
    fallback: 'none: each pairing names its own',
    repeatable: true,
  },
  metrics: {
    value: 'on|off',
    description: 'Serves GET /metrics for Prometheus, to everybody who reaches the server.',
    fallback: 'on while listening on loopback, else off',
  },
  logLevel: {
    value: LOG_LEVELS.join('|'),
    description: 'What to log.',
    fallback: 'info',
  },
  logFormat: {
    value: LOG_FORMATS.join('|'),
    description: 'text for people, json for services.',
    fallback: 'text',
  },
  rateSource: {
    env: 'SERVICE_RATE_SOURCES',
    value: 'name|url',
    description:
      'Service that prices in a currency are computed by: kraken, coinbase, bitstamp, bitfinex, or a URL such as https://rates.example/{currency}.json#/price (repeatable; comma separated in the environment).',
    fallback: 'none: there are no prices, and nobody is asked',
    repeatable: true,
  },
  buyLinkTemplate: {
    value: 'template',
    description: "The purchase app's launch link, with <invoice> in it.",
    fallback: 'https://cash.app/launch/lightning/<invoice>',
  },
  sandboxBlockSecs: {
    value: 'secs',
    description: 'Seconds between sandbox blocks; 0 mines on request only.',
    fallback: '10',
  },
});

/** The name of a setting. */
export type OptionName = keyof typeof OPTIONS;

/** Calls each setting by its name: `listenAddr` is the flag `listen-addr` and the variable `SERVICE_LISTEN_ADDR`. */
function named<const Table extends Readonly<Record<string, OptionFacts>>>(table: Table) {
  const entries = Object.entries(table).map(([name, facts]) => {
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return [name, { flag, env: `SERVICE_${flag.toUpperCase().replaceAll('-', '_')}`, ...facts }];
  });
  return Object.fromEntries(entries) as {
    readonly [Name in keyof Table]: OptionSpec & Table[Name];
  };
}
