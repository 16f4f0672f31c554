import { hex } from '@scure/base';
import { change, firstRow, insertRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { type Branch, childSecretKey, type SingleKeyKind, singleKeyScript } from './keys.ts';

/** A script whose key belongs to this world. */
interface KnownScript {
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

type ScriptRow = Omit<KnownScript, 'script'> & { readonly script: string };

const SCRIPTS = 'SELECT script, owner, kind, branch, key_index AS "index" FROM chain_scripts';

/**
 * Returns the owner's first script of the branch and of its kind that no transaction has paid yet. It stays the same
 * until it is paid; a new one is made when all are paid.
 */
export function nextUnusedScript(world: World, owner: ScriptOwner, branch: Branch): KnownScript {
  return world.transact(() => {
    const row = firstRow<ScriptRow>(
      world,
      `${SCRIPTS} WHERE used = 0 AND owner = ? AND branch = ? AND kind = ?
       ORDER BY key_index LIMIT 1`,
      owner.owner,
      branch,
      owner.kind,
    );
    return row === null ? makeScript(world, owner, branch) : knownScript(row);
  });
}

function makeScript(
  world: World,
  { owner, kind, accountKey }: ScriptOwner,
  branch: Branch,
): KnownScript {
  const next = firstRow<{ index: number }>(
    world,
    `SELECT coalesce(max(key_index) + 1, 0) AS "index" FROM chain_scripts
     WHERE owner = ? AND branch = ?`,
    owner,
    branch,
  );
  const index = next?.index ?? 0;
  const script = singleKeyScript(kind, childSecretKey(accountKey, branch, index));
  const row = { script: hex.encode(script), owner, kind, branch, key_index: index, used: 0 };
  insertRow(world, 'chain_scripts', row);
  return { script, owner, kind, branch, index };
}

/** Returns the script with its owner and key, or null when this world does not have its key. */
export function findScript(world: World, script: Uint8Array): KnownScript | null {
  const row = firstRow<ScriptRow>(world, `${SCRIPTS} WHERE script = ?`, hex.encode(script));
  return row && knownScript(row);
}

/** Marks the script as paid, so that it is not handed out again. */
export function markUsed(world: World, script: Uint8Array): void {
  change(world, 'UPDATE chain_scripts SET used = 1 WHERE script = ?', hex.encode(script));
}

function knownScript(row: ScriptRow): KnownScript {
  return { ...row, script: hex.decode(row.script) };
}
