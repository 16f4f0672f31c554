import { hex } from '@scure/base';
import type { World } from '../world/world.ts';
import { type Branch, childSecretKey, type SingleKeyKind, singleKeyScript } from './keys.ts';

/** A script whose key belongs to this world. */
export interface KnownScript {
  readonly script: Uint8Array;
  /** Ledger account that its coins belong to. */
  readonly owner: string;
  readonly kind: SingleKeyKind;
  readonly branch: Branch;
  readonly index: number;
}

/** The owner of scripts: its ledger account, its account key and the kind of script that it uses. */
export interface ScriptOwner {
  readonly owner: string;
  readonly accountKey: Uint8Array;
  readonly kind: SingleKeyKind;
}

interface ScriptRow {
  script: string;
  owner: string;
  kind: SingleKeyKind;
  branch: Branch;
  key_index: number;
}

/**
 * Returns the owner's first script of the branch and of its kind that no transaction has paid yet. It stays the same
 * until it is paid; a new one is made when all are paid.
 */
export function nextUnusedScript(world: World, owner: ScriptOwner, branch: Branch): KnownScript {
  return world.transact(() => {
    const row = world.db
      .query<ScriptRow, [string, string, string]>(
        `SELECT script, owner, kind, branch, key_index FROM chain_scripts
         WHERE used = 0 AND owner = ? AND branch = ? AND kind = ? ORDER BY key_index LIMIT 1`,
      )
      .get(owner.owner, branch, owner.kind);
    return row === null ? makeScript(world, owner, branch) : knownScript(row);
  });
}

function makeScript(world: World, owner: ScriptOwner, branch: Branch): KnownScript {
  const next = world.db
    .query<{ next: number }, [string, string]>(
      `SELECT coalesce(max(key_index) + 1, 0) AS next FROM chain_scripts
       WHERE owner = ? AND branch = ?`,
    )
    .get(owner.owner, branch);
  const index = next?.next ?? 0;
  const script = singleKeyScript(owner.kind, childSecretKey(owner.accountKey, branch, index));
  world.db
    .query(
      `INSERT INTO chain_scripts (script, owner, kind, branch, key_index, used)
       VALUES (?, ?, ?, ?, ?, 0)`,
    )
    .run(hex.encode(script), owner.owner, owner.kind, branch, index);
  return { script, owner: owner.owner, kind: owner.kind, branch, index };
}

/** Returns the script with its owner and key, or null when this world does not have its key. */
export function findScript(world: World, script: Uint8Array): KnownScript | null {
  const row = world.db
    .query<ScriptRow, [string]>(
      'SELECT script, owner, kind, branch, key_index FROM chain_scripts WHERE script = ?',
    )
    .get(hex.encode(script));
  return row && knownScript(row);
}

/** Marks the script as paid, so that it is not handed out again. */
export function markUsed(world: World, script: Uint8Array): void {
  world.db.query('UPDATE chain_scripts SET used = 1 WHERE script = ?').run(hex.encode(script));
}

function knownScript(row: ScriptRow): KnownScript {
  const { owner, kind, branch, key_index: index } = row;
  return { script: hex.decode(row.script), owner, kind, branch, index };
}
