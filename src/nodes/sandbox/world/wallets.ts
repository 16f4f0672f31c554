import { refused } from '../../../model/errors.ts';
import { keysOfSeed, onchainAccountKeyOfSeed, userPkOfSeed } from './keys.ts';
import type { World } from './world.ts';

/** The keys of a wallet's node, or of the outside world's. */
export interface NodeKeys {
  readonly nodePk: string;
  readonly nodeSecretKey: Uint8Array;
  readonly onchainAccountKey: Uint8Array;
}

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
  world.db
    .query(
      `INSERT INTO wallets (user_pk, node_pk, node_secret_key, onchain_account_key, partner_pk, created_ms)
       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    )
    .run(userPk, nodePk, nodeSecretKey, onchainAccountKey, options.partnerPk, world.clock.now());
  return userPk;
}

/** Returns the wallet's keys. Throws `refused` before signup. */
export function walletKeys(world: World, userPk: string): NodeKeys {
  const cache = walletCache.get(world) ?? new Map<string, NodeKeys>();
  walletCache.set(world, cache);
  const known = cache.get(userPk);
  if (known) return known;
  const row = world.db
    .query<
      { node_pk: string; node_secret_key: Uint8Array; onchain_account_key: Uint8Array },
      [string]
    >('SELECT node_pk, node_secret_key, onchain_account_key FROM wallets WHERE user_pk = ?')
    .get(userPk);
  if (row === null) {
    throw refused('This wallet is not signed up yet: call PUT /v2/node/signup first.');
  }
  const keys = {
    nodePk: row.node_pk,
    nodeSecretKey: row.node_secret_key,
    onchainAccountKey: row.onchain_account_key,
  };
  world.afterCommit(() => cache.set(userPk, keys));
  return keys;
}

/** Returns whether the wallet of that user_pk is signed up here. */
export function hasWallet(world: World, userPk: string): boolean {
  return world.db.query('SELECT 1 FROM wallets WHERE user_pk = ?').get(userPk) !== null;
}

/** Returns the wallet of a Lightning node, or null. */
export function walletOfNode(world: World, nodePk: string): string | null {
  const row = world.db
    .query<{ user_pk: string }, [string]>('SELECT user_pk FROM wallets WHERE node_pk = ?')
    .get(nodePk);
  return row?.user_pk ?? null;
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
  const row = world.db.query<{ seed: Uint8Array }, []>('SELECT seed FROM outside').get();
  return (row ?? drawSeed(world)).seed;
}

function drawSeed(world: World): { seed: Uint8Array } {
  const seed = world.random(32);
  world.db.query('INSERT INTO outside (id, seed) VALUES (1, ?)').run(seed);
  return { seed };
}
