import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hex } from '@scure/base';
import type { Config } from '../config/config.ts';
import { hasDefaultWallet } from '../config/exposure.ts';
import { createPrivateFile } from '../lib/files/replace-file.ts';
import { random } from '../lib/random.ts';
import { parseRootSeed } from '../model/root-seed.ts';
import type { Sandbox } from '../nodes/sandbox/index.ts';
import type { Wallets } from '../wallet/open/wallets.ts';
import { TRIAL_SEED_FILE } from './data-files.ts';

/** Returns the configuration with a trial wallet, kept in the data directory, unless it names one already. */
export function withDevWallet(config: Config): Config {
  if (hasDefaultWallet(config)) return config;
  return { ...config, rootSeed: devSeed(config.dataDir) };
}

function devSeed(dataDir: string): Uint8Array {
  if (dataDir === ':memory:') return random(32);
  const path = join(dataDir, TRIAL_SEED_FILE);
  if (existsSync(path)) {
    const seed = parseRootSeed(readFileSync(path, 'utf8'));
    if (seed) return seed;
    throw new Error(
      `${path} does not hold a root seed: remove it to start with a new trial wallet.`,
    );
  }
  const seed = random(32);
  createPrivateFile(path, `${hex.encode(seed)}\n`);
  return seed;
}

/** Signs the trial wallet up, and funds it on its first use. The wallet gets all of its funds or none. */
export async function fundDevWallet(wallets: Wallets, sandbox: Sandbox): Promise<void> {
  await wallets.signup(null);
  const { history, userPk } = await wallets.open(null);
  if ((await history.tip()) !== null) return;
  await sandbox.controls.fundNewWallet(userPk);
}

/**
 * Returns command lines to paste for a first try; they need only curl and sed. `cookiePath` is the file with the
 * owner's token if requests need a header, otherwise null.
 */
export function welcomeLines(baseUrl: string, cookiePath: string | null): string[] {
  const json = "-H 'content-type: application/json'";
  const auth = cookiePath === null ? '' : ' -H "authorization: Bearer $OWNER"';
  const owner =
    cookiePath === null
      ? []
      : ["# The token of the wallet's owner", `OWNER=$(cat '${cookiePath}')`];
  return [
    '',
    `A sandbox wallet is ready. Its coins are worthless. The reference is at ${baseUrl}/docs`,
    `To see it in a browser, open ${baseUrl}/console: "wallet-sidecar console" prints a link that signs you in.`,
    'Paste these lines one after another:',
    '',
    ...owner,
    '# Show the balances of the wallet',
    `curl -s${auth} ${baseUrl}/v2/node/node_info; echo`,
    '# Create an invoice for 1000 sats',
    `INVOICE=$(curl -s${auth} ${baseUrl}/v2/node/create_invoice ${json} -d '{"amount":"1000","description":"Coffee"}' | sed 's/.*"invoice":"\\([^"]*\\)".*/\\1/'); echo $INVOICE`,
    '# Create a second wallet',
    `OTHER=$(curl -s${auth} -X POST ${baseUrl}/sandbox/wallets | sed 's/.*"client_credentials":"\\([^"]*\\)".*/\\1/')`,
    '# Pay the invoice from the second wallet',
    `curl -s ${baseUrl}/v2/node/pay -H "authorization: Bearer $OTHER" ${json} -d "{\\"payable\\":\\"$INVOICE\\"}"; echo`,
    '# Read the payment in the first wallet',
    `curl -s${auth} -X PUT ${baseUrl}/v2/node/sync_payments; echo; curl -s${auth} "${baseUrl}/v2/node/list_payments?filter=completed&limit=1"; echo`,
    '',
  ];
}

/** Where the trial wallet is reached, for scripts. */
interface DevAccess {
  readonly baseUrl: string;
  readonly dataDir: string;
  /** The owner's token; null where there is none, in a data directory in memory. */
  readonly token: string | null;
}

/** Returns what a script needs to call the sidecar of the trial wallet, as one line of JSON. */
export function welcomeJson({ baseUrl, dataDir, token }: DevAccess): string {
  const reference = `${baseUrl}/docs`;
  return JSON.stringify({ url: baseUrl, credentials: token, reference, data_dir: dataDir });
}
