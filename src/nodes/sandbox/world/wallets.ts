import { refused } from '../../../model/errors.ts';
import { keysOfSeed, onchainAccountKeyOfSeed, type SeedKeys, userPkOfSeed } from './keys.ts';
import { firstRow, insertRow } from './rows.ts';
import type { World } from './world.ts';

type NodeKeys = Omit<SeedKeys, 'userPk'>;

const walletCache = new WeakMap<World, Map<string, NodeKeys>>();
const outsideCache = new WeakMap<World, NodeKeys>();

/** Creates the wallet of a seed and returns its user_pk; does nothing where the wallet exists. */
export function signUp(
  world: World,
  rootSeed: Uint8Array,
  options: { readonly partnerPk: string | null },
): string {
  const known = userPkOfSeed(rootSeed);
  if (hasWallet(world, known)) return known;
  const { userPk, nodePk, nodeSecretKey, onchainAccountKey } = keysOfSeed(rootSeed);
  insertRow(world, 'wallets', {
    user_pk: userPk,
    node_pk: nodePk,
    node_secret_key: nodeSecretKey,
    onchain_account_key: onchainAccountKey,
    partner_pk: options.partnerPk,
    created_ms: world.clock.now(),
  });
  return userPk;
}

/** Returns the wallet's keys. Throws `refused` before signup. */
export function walletKeys(world: World, userPk: string): NodeKeys {
  const cache = walletCache.get(world) ?? new Map<string, NodeKeys>();
  walletCache.set(world, cache);
  const known = cache.get(userPk);
  if (known) return known;
  const keys = firstRow<NodeKeys>(
    world,
    `SELECT node_pk AS nodePk, node_secret_key AS nodeSecretKey,
       onchain_account_key AS onchainAccountKey FROM wallets WHERE user_pk = ?`,
    userPk,
  );
  if (keys === null) {
    throw refused('This wallet is not signed up yet: call PUT /v2/node/signup first.');
  }
  world.afterCommit(() => cache.set(userPk, keys));
  return keys;
}

/** Returns whether the wallet of that user_pk is signed up here. */
export function hasWallet(world: World, userPk: string): boolean {
  return firstRow(world, 'SELECT 1 FROM wallets WHERE user_pk = ?', userPk) !== null;
}

/** Returns the wallet of a Lightning node, or null. */
export function walletOfNode(world: World, nodePk: string): string | null {
  const sql = 'SELECT user_pk AS userPk FROM wallets WHERE node_pk = ?';
  return firstRow<{ userPk: string }>(world, sql, nodePk)?.userPk ?? null;
}

/** Returns the outside world's keys, which are drawn for a new world. */
export function outsideKeys(world: World): NodeKeys {
  const known = outsideCache.get(world);
  if (known) return known;
  const keys = keysOfSeed(outsideSeed(world));
  world.afterCommit(() => outsideCache.set(world, keys));
  return keys;
}

/** Returns the key of the outside world's on-chain account alone. A start needs no other of its keys. */
export function outsideAccountKey(world: World): Uint8Array {
  return outsideCache.get(world)?.onchainAccountKey ?? onchainAccountKeyOfSeed(outsideSeed(world));
}

function outsideSeed(world: World): Uint8Array {
  const known = firstRow<{ seed: Uint8Array }>(world, 'SELECT seed FROM outside');
  if (known) return known.seed;
  const seed = world.random(32);
  insertRow(world, 'outside', { id: 1, seed });
  return seed;
}
