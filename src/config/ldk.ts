import type { ChannelPeer } from '../model/channel.ts';
import type { Parsed } from '../model/parsed.ts';
import { type ChainServer, parseElectrumUrl, parseEsploraUrl } from '../model/web-url.ts';
import { parseListenAddress, parsePeer } from './network.ts';
import {
  ConfigError,
  type Found,
  oneOf,
  parseFound,
  readSwitch,
  type Settings,
} from './sources.ts';

const NETWORKS = ['bitcoin', 'testnet', 'signet', 'regtest'] as const;

/** The embedded node of `--node ldk`. */
export interface LdkConfig {
  /** From which its keys follow. */
  readonly rootSeed: Uint8Array;
  readonly network: (typeof NETWORKS)[number];
  /** Where it reads the chain. */
  readonly chain: ChainServer;
  /** Who opens channels for invoices that do not fit, and the most that may cost; null: nobody. */
  readonly lsp: (ChannelPeer & { readonly maxFeeMsat: bigint }) | null;
  /** Where other nodes reach it; null: it only connects to others. */
  readonly listen: string | null;
}

/** What a channel may cost at the LSP where nothing is said, in satoshis. */
const DEFAULT_MAX_LSP_FEE_SAT = '5000';

interface Given {
  readonly rootSeed: Uint8Array | null;
  readonly dataDir: string;
}

const ONLY_LDK = [
  'network',
  'esploraUrl',
  'electrumUrl',
  'lsp',
  'maxLspFee',
  'lightningListenAddr',
] as const;
/** Settings of other nodes, and of what the embedded node cannot do yet. */
const NOT_WITH_LDK = ['nodeUrl', 'nodeProxy', 'peerUrl', 'clientCredentials'] as const;

/** Returns the embedded node that the settings ask for; null without `--node ldk`. Throws {@link ConfigError}. */
export function ldkOf(
  { find }: Pick<Settings, 'find'>,
  { rootSeed, dataDir }: Given,
): LdkConfig | null {
  const node = find('node');
  if (node === null) {
    const alone = ONLY_LDK.map((name) => find(name)).find((found) => found !== null);
    if (alone) throw new ConfigError(`${alone.source} needs --node ldk beside it.`);
    return null;
  }
  parseFound(node, (text) => (text === 'ldk' ? { value: text } : { problem: 'must be ldk' }));
  const other = NOT_WITH_LDK.map((name) => find(name)).find((found) => found !== null);
  if (other)
    throw new ConfigError(`${other.source} cannot be used with the LDK node: keep one of them.`);
  if (rootSeed === null) {
    throw new ConfigError(
      'The LDK node needs a root seed: make one with "wallet-sidecar seed new" and name its file with --root-seed-path.',
    );
  }
  if (dataDir === ':memory:') {
    throw new ConfigError(
      'The LDK node needs a data directory: its channels must not be forgotten.',
    );
  }
  const network = parseFound(needed(find('network'), '--network, such as signet'), oneOf(NETWORKS));
  if (network === 'bitcoin' && !readSwitch(find('experimentalMainnet'))) {
    throw new ConfigError(
      'The LDK node is experimental: add --experimental-mainnet to use it with real money.',
    );
  }
  const lsp = find('lsp');
  const maxFee = find('maxLspFee');
  if (maxFee && lsp === null) {
    throw new ConfigError(`${maxFee.source} bounds the fee of an LSP: name the LSP with --lsp.`);
  }
  const maxFeeMsat = BigInt(maxFee ? parseFound(maxFee, asSats) : DEFAULT_MAX_LSP_FEE_SAT) * 1000n;
  const listen = find('lightningListenAddr');
  if (listen) parseFound(listen, parseListenAddress);
  return {
    rootSeed,
    network,
    chain: chainServerOf(find),
    lsp: lsp && { ...parseFound(lsp, parsePeer), maxFeeMsat },
    listen: listen?.value ?? null,
  };
}

/** The one server that the settings name. */
function chainServerOf(find: Settings['find']): ChainServer {
  const electrum = find('electrumUrl');
  if (electrum === null) {
    const esplora = needed(
      find('esploraUrl'),
      '--esplora-url or --electrum-url, the server that tells it of the chain',
    );
    return { esplora: parseFound(esplora, parseEsploraUrl) };
  }
  const esplora = find('esploraUrl');
  if (esplora) {
    throw new ConfigError(
      `${esplora.source} cannot be used with ${electrum.source}: keep one of them.`,
    );
  }
  return { electrum: parseFound(electrum, parseElectrumUrl) };
}

function needed(found: Found | null, what: string): Found {
  if (found) return found;
  throw new ConfigError(`The LDK node needs ${what}: nothing is chosen for you.`);
}

function asSats(text: string): Parsed<string> {
  return /^\d{1,9}$/.test(text) ? { value: text } : { problem: 'must be a whole number of sats' };
}
