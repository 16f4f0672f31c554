import { hex } from '@scure/base';
import type { World } from '../world/world.ts';
import type { Coin } from './coin-selection.ts';
import type { Branch, SingleKeyKind } from './keys.ts';

/** An unspent output whose owner can sign for it. */
export interface UnspentOutput extends Coin {
  readonly txid: string;
  readonly vout: number;
  readonly script: Uint8Array;
  readonly kind: SingleKeyKind;
  readonly branch: Branch;
  readonly index: number;
  readonly confirmed: boolean;
}

interface UnspentRow {
  txid: string;
  vout: number;
  value_sat: number;
  script: string;
  kind: SingleKeyKind;
  branch: Branch;
  key_index: number;
  height: number | null;
}

/**
 * Returns the outputs that the owner may spend: confirmed ones, and unconfirmed ones of its own transactions, unless
 * they are locked.
 */
export function spendableOutputs(world: World, owner: string): UnspentOutput[] {
  return world.db
    .query<UnspentRow, [string, number]>(
      `SELECT o.txid, o.vout, o.value_sat, o.script, s.kind, s.branch, s.key_index, t.height
       FROM chain_outputs o
       JOIN chain_scripts s ON s.script = o.script
       JOIN chain_transactions t ON t.txid = o.txid
       WHERE o.owner = ? AND o.spent_by IS NULL AND o.untrusted = 0
         AND NOT EXISTS (SELECT 1 FROM chain_locks l
           WHERE l.txid = o.txid AND l.vout = o.vout AND l.expires_ms > ?)
       ORDER BY o.txid, o.vout`,
    )
    .all(owner, world.clock.now())
    .map(unspentOutput);
}

function unspentOutput(row: UnspentRow): UnspentOutput {
  return {
    txid: row.txid,
    vout: row.vout,
    valueSat: BigInt(row.value_sat),
    script: hex.decode(row.script),
    kind: row.kind,
    branch: row.branch,
    index: row.key_index,
    confirmed: row.height !== null,
  };
}

/**
 * Returns the change of a transaction that the owner sent, and the transaction that spends it; null when it has none.
 */
export function unconfirmedChange(
  world: World,
  owner: string,
  txid: string,
): (UnspentOutput & { readonly spentBy: string | null }) | null {
  const row = world.db
    .query<UnspentRow & { spent_by: string | null }, [string, string]>(
      `SELECT o.txid, o.vout, o.value_sat, o.script, o.spent_by, s.kind, s.branch, s.key_index, t.height
       FROM chain_outputs o
       JOIN chain_scripts s ON s.script = o.script
       JOIN chain_transactions t ON t.txid = o.txid
       WHERE o.owner = ? AND o.txid = ? AND s.branch = 'change'`,
    )
    .get(owner, txid);
  return row && { ...unspentOutput(row), spentBy: row.spent_by };
}

/** Satoshis that the owner received in unconfirmed transactions of others. */
export function untrustedSat(world: World, owner: string): bigint {
  const row = world.db
    .query<{ sum: number | null }, [string]>(
      `SELECT sum(value_sat) AS sum FROM chain_outputs
       WHERE owner = ? AND untrusted = 1 AND spent_by IS NULL`,
    )
    .get(owner);
  return BigInt(row?.sum ?? 0);
}

/** Satoshis of the owner that a transaction would spend; null unless all its inputs are unspent coins of the owner. */
export function spendableInputsSat(
  world: World,
  owner: string,
  outpoints: readonly string[],
): bigint | null {
  const find = world.db.query<{ value_sat: number }, [string, number, string]>(
    `SELECT value_sat FROM chain_outputs
     WHERE txid = ? AND vout = ? AND owner = ? AND spent_by IS NULL`,
  );
  let sumSat = 0n;
  for (const outpoint of outpoints) {
    const [txid = '', vout = ''] = outpoint.split(':');
    const row = find.get(txid, Number(vout), owner);
    if (row === null) return null;
    sumSat += BigInt(row.value_sat);
  }
  return sumSat;
}
