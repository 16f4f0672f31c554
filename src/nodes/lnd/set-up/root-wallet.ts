import { hmac } from '@noble/hashes/hmac.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64, createBase58check, hex } from '@scure/base';
import { sleep } from '../../../lib/sleep.ts';
import { ApiError } from '../../../model/errors.ts';
import { DERIVATION_LABELS, derive } from '../../../model/root-seed.ts';
import type { LndRest } from '../reads/rest.ts';
import { mintMacaroon } from '../words/macaroon.ts';
import { notSignedUp, refusalText } from '../words/refusal.ts';
import { anyShape } from '../words/wire.ts';

/** Opens the LND wallet that follows from a root seed: keys, password, macaroon (docs/decisions.md 83). */

const ADMIN: ReadonlyMap<string, readonly string[]> = new Map([
  ['address', ['read', 'write']],
  ['info', ['read', 'write']],
  ['invoices', ['read', 'write']],
  ['macaroon', ['generate', 'read', 'write']],
  ['message', ['read', 'write']],
  ['offchain', ['read', 'write']],
  ['onchain', ['read', 'write']],
  ['peers', ['read', 'write']],
  ['signer', ['generate', 'read']],
]);

/** BIP 32 version bytes of extended private keys: for mainnet, and for every other network. */
const EXTENDED_KEY_VERSIONS = [0x0488ade4, 0x04358394] as const;
/** LND searches for coins from this time on: 1 January 2025. No seed of this program is older. */
const BIRTHDAY_SECS = 1_735_689_600;
/** The number of addresses without a coin in a row after which LND's search for coins ends. */
const RECOVERY_WINDOW = 250;
const OPEN_WITHIN_MS = 120_000;
const POLL_MS = 100;
const INIT_TIMEOUT_MS = 60_000;

/** Returns the administrator's macaroon of the seed's wallet, minted without asking LND; `nonce` is 16 random bytes. */
export function adminMacaroon(rootSeed: Uint8Array, nonce: Uint8Array): string {
  return mintMacaroon(derive(rootSeed, DERIVATION_LABELS.lndMacaroons), nonce, ADMIN);
}

/** Names the seed's wallet in the store without giving away the seed or a key. */
export function walletMark(rootSeed: Uint8Array): string {
  return hex.encode(sha256(derive(rootSeed, DERIVATION_LABELS.lndMacaroons)));
}

/** Creates the seed's wallet unless one is there, and waits until it is open. Throws `unreachable`, `refused`. */
export async function createWallet(rest: LndRest, rootSeed: Uint8Array): Promise<void> {
  if ((await rest.state()) !== 'NON_EXISTING') return;
  await initialize(rest, rootSeed);
  await opened(rest);
}

/** Unlocks the seed's wallet, and waits until it is open. Throws `refused` where there is no wallet. */
export async function unlockWallet(rest: LndRest, rootSeed: Uint8Array): Promise<void> {
  const current = await rest.state();
  if (current === 'NON_EXISTING') throw notSignedUp();
  if (current === 'LOCKED') {
    await rest.post('/v1/unlockwallet', { wallet_password: password(rootSeed) }, anyShape, {
      timeoutMs: INIT_TIMEOUT_MS,
    });
  }
  await opened(rest);
}

async function initialize(rest: LndRest, rootSeed: Uint8Array): Promise<void> {
  const request = (version: number) => ({
    wallet_password: password(rootSeed),
    extended_master_key: extendedMasterKey(rootSeed, version),
    extended_master_key_birthday_timestamp: `${BIRTHDAY_SECS}`,
    // Without a window LND would not search for the coins of a seed that was used before.
    recovery_window: RECOVERY_WINDOW,
    stateless_init: true,
    macaroon_root_key: base64.encode(derive(rootSeed, DERIVATION_LABELS.lndMacaroons)),
  });
  const [mainnet, others] = EXTENDED_KEY_VERSIONS;
  const init = (version: number) =>
    rest.post('/v1/initwallet', request(version), anyShape, { timeoutMs: INIT_TIMEOUT_MS });
  try {
    await init(mainnet);
  } catch (error) {
    // An LND without a wallet shows its network only by this error.
    if (!refusalText(error).includes('must be for network')) throw error;
    await init(others);
  }
}

async function opened(rest: LndRest): Promise<void> {
  const deadline = performance.now() + OPEN_WITHIN_MS;
  while ((await rest.state()) !== 'SERVER_ACTIVE') {
    if (performance.now() > deadline) {
      throw new ApiError('timeout', 'LND has not opened its wallet yet: try again in a while.');
    }
    await sleep(POLL_MS);
  }
}

function password(rootSeed: Uint8Array): string {
  return base64.encode(derive(rootSeed, DERIVATION_LABELS.lndPassword));
}

/** BIP 32, Master key generation and Serialization format: depth, parent fingerprint and child number are zero. */
function extendedMasterKey(rootSeed: Uint8Array, version: number): string {
  const seed = derive(rootSeed, DERIVATION_LABELS.lndMaster);
  const master = hmac(sha512, utf8ToBytes('Bitcoin seed'), seed);
  const bytes = new Uint8Array(78);
  new DataView(bytes.buffer).setUint32(0, version);
  bytes.set(master.subarray(32), 13);
  bytes.set(master.subarray(0, 32), 46);
  return createBase58check(sha256).encode(bytes);
}
