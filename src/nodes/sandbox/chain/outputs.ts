import { hex } from '@scure/base';
import { allRows, firstRow } from '../world/rows.ts';
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

type OutputRow = Omit<UnspentOutput, 'valueSat' | 'script' | 'confirmed'> & {
  readonly valueSat: number;
  readonly script: string;
  readonly height: number | null;
  readonly spentBy: string | null;
};

/** Outputs whose keys are in this world, with their transactions. */
const OUTPUTS = `SELECT o.txid, o.vout, o.value_sat AS valueSat, o.script, o.spent_by AS spentBy,
    s.kind, s.branch, s.key_index AS "index", t.height
  FROM chain_outputs o
  JOIN chain_scripts s ON s.script = o.script
  JOIN chain_transactions t ON t.txid = o.txid`;

/** The outputs that the owner may spend: confirmed ones, and its own unconfirmed ones, unless locked. */
export function spendableOutputs(world: World, owner: string): UnspentOutput[] {
  return allRows<OutputRow>(
    world,
    `${OUTPUTS}
     WHERE o.owner = ? AND o.spent_by IS NULL AND o.untrusted = 0
       AND NOT EXISTS (SELECT 1 FROM chain_locks l
         WHERE l.txid = o.txid AND l.vout = o.vout AND l.expires_ms > ?)
     ORDER BY o.txid, o.vout`,
    owner,
    world.clock.now(),
  ).map(outputOf);
}

/** Returns the outputs that a transaction spends, as they were before. */
export function outputsSpentBy(world: World, txid: string): UnspentOutput[] {
  return allRows<OutputRow>(world, `${OUTPUTS} WHERE o.spent_by = ?`, txid).map(outputOf);
}

function outputOf(row: OutputRow) {
  const { valueSat, script, height, ...same } = row;
  return {
    ...same,
    valueSat: BigInt(valueSat),
    script: hex.decode(script),
    confirmed: height !== null,
  };
}

/** Returns the change of an owner's transaction, and what spends it; null when it has none. */
export function unconfirmedChange(
  world: World,
  owner: string,
  txid: string,
): (UnspentOutput & { readonly spentBy: string | null }) | null {
  const where = "WHERE o.owner = ? AND o.txid = ? AND s.branch = 'change'";
  const row = firstRow<OutputRow>(world, `${OUTPUTS} ${where}`, owner, txid);
  return row && outputOf(row);
}

/** Satoshis that the owner received in unconfirmed transactions of others. */
export function untrustedSat(world: World, owner: string): bigint {
  const row = firstRow<{ sum: number | null }>(
    world,
    `SELECT sum(value_sat) AS sum FROM chain_outputs
     WHERE owner = ? AND untrusted = 1 AND spent_by IS NULL`,
    owner,
  );
  return BigInt(row?.sum ?? 0);
}

/** Satoshis of the owner that a transaction would spend; null unless all its inputs are unspent coins of the owner. */
export function spendableInputsSat(
  world: World,
  owner: string,
  outpoints: readonly string[],
): bigint | null {
  const sql = `SELECT value_sat AS valueSat FROM chain_outputs
    WHERE txid = ? AND vout = ? AND owner = ? AND spent_by IS NULL`;
  let sumSat = 0n;
  for (const outpoint of outpoints) {
    const [txid = '', vout = ''] = outpoint.split(':');
    const row = firstRow<{ valueSat: number }>(world, sql, txid, Number(vout), owner);
    if (row === null) return null;
    sumSat += BigInt(row.valueSat);
  }
  return sumSat;
}
