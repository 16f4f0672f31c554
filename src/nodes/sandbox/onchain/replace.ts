import { hex } from '@scure/base';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import { tipHeight } from '../chain/blocks.ts';
import { broadcast, MINING_FEES } from '../chain/broadcast.ts';
import { watchReplacement } from '../chain/finality.ts';
import type { Branch, SingleKeyKind } from '../chain/keys.ts';
import { nextUnusedScript } from '../chain/scripts.ts';
import { signedBy } from '../chain/spend.ts';
import { signTransaction, type TransactionInput } from '../chain/transaction.ts';
import { FEE_RATES, transactionVsize } from '../chain/weight.ts';
import { transfer } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import { outsideCoins } from './owners.ts';

interface TransactionRow {
  payer: string;
  fee_sat: number;
  vsize: number;
  height: number | null;
  replaced_by: string | null;
}

/**
 * Takes back an unconfirmed payment of the outside world: spends the same coins again, to the outside world itself and
 * with a higher fee (BIP 125). The wallet's payment names the new transaction as its `replacement`, and fails when that
 * has its confirmations. Returns the new txid. Throws `refused` when the transaction is not the outside world's, is
 * confirmed, was replaced already, funds a channel, or when its outputs are spent.
 */
export function replaceOutsidePayment(world: World, txid: string): string {
  return world.transact(() => {
    const replaced = replaceable(world, txid);
    const inputs = inputsOf(world, txid);
    takeBack(world, txid, replaced);

    const outside = outsideCoins(world);
    const { script } = nextUnusedScript(world, outside, 'change');
    const vsize = transactionVsize(
      inputs.map(() => 'p2tr'),
      [script],
    );
    // BIP 125: the replacement must pay for its own relay in addition to the fee of what it replaces.
    const feeSat = BigInt(replaced.fee_sat) + BigInt(vsize * FEE_RATES.high);
    const inSat = inputs.reduce((sum, { valueSat }) => sum + valueSat, 0n);
    const transaction = signTransaction({
      inputs,
      outputs: [{ script, valueSat: inSat - feeSat }],
      lockTime: tipHeight(world),
      auxRand: world.random(32),
    });
    broadcast(world, {
      transaction,
      payer: outside.owner,
      fee: [{ from: outside.owner, amountMsat: feeSat * MSAT_PER_SAT }],
      memo: `replaces ${txid}`,
    });
    world.db
      .query('UPDATE chain_transactions SET replaced_by = ? WHERE txid = ?')
      .run(transaction.txid, txid);
    watchReplacement(world, { txid, replacement: transaction.txid });
    return transaction.txid;
  });
}

function replaceable(world: World, txid: string): TransactionRow {
  const row = world.db
    .query<TransactionRow, [string]>(
      'SELECT payer, fee_sat, vsize, height, replaced_by FROM chain_transactions WHERE txid = ?',
    )
    .get(txid);
  if (row === null) throw refused('The chain has no transaction of that txid; check the txid.');
  if (row.payer !== outsideCoins(world).owner) {
    throw refused(
      'Only payments of the outside world can be replaced; fund the wallet on chain first.',
    );
  }
  if (row.replaced_by !== null) {
    throw refused(
      `The transaction was replaced by ${row.replaced_by} already; nothing is left to do.`,
    );
  }
  if (row.height !== null) {
    throw refused(
      'The transaction is confirmed, so it cannot be replaced; fund the wallet once more and replace that.',
    );
  }
  const spent = world.db
    .query('SELECT 1 FROM chain_outputs WHERE txid = ? AND spent_by IS NOT NULL')
    .get(txid);
  if (spent !== null) {
    throw refused(
      'Another transaction spends its outputs; mine a block, fund the wallet once more and replace that.',
    );
  }
  const funding = world.db
    .query("SELECT 1 FROM chain_outputs WHERE txid = ? AND owner LIKE 'channel:%'")
    .get(txid);
  if (funding !== null) {
    throw refused('The transaction funds a channel; replace a payment to an address instead.');
  }
  return row;
}

/** The inputs of a transaction of the outside world, ready to be signed again. */
function inputsOf(world: World, txid: string): TransactionInput[] {
  const outside = outsideCoins(world);
  return world.db
    .query<
      {
        txid: string;
        vout: number;
        value_sat: number;
        script: string;
        kind: SingleKeyKind;
        branch: Branch;
        key_index: number;
      },
      [string]
    >(
      `SELECT o.txid, o.vout, o.value_sat, o.script, s.kind, s.branch, s.key_index
       FROM chain_outputs o JOIN chain_scripts s ON s.script = o.script WHERE o.spent_by = ?`,
    )
    .all(txid)
    .map((row) =>
      signedBy(outside, {
        txid: row.txid,
        vout: row.vout,
        valueSat: BigInt(row.value_sat),
        script: hex.decode(row.script),
        kind: row.kind,
        branch: row.branch,
        index: row.key_index,
      }),
    );
}

/** Undoes the changes of an unconfirmed transaction to the outputs and the ledger. */
function takeBack(world: World, txid: string, { payer, fee_sat }: TransactionRow): void {
  const outputs = world.db
    .query<{ owner: string; value_sat: number }, [string]>(
      'DELETE FROM chain_outputs WHERE txid = ? RETURNING owner, value_sat',
    )
    .all(txid);
  const back = (from: string, valueSat: number) => {
    if (from === payer) return;
    const amountMsat = BigInt(valueSat) * MSAT_PER_SAT;
    transfer(world, { from, to: payer, amountMsat, memo: `replaced ${txid}` });
  };
  for (const { owner, value_sat } of outputs) back(owner, value_sat);
  back(MINING_FEES, fee_sat);
  world.db.query('UPDATE chain_outputs SET spent_by = NULL WHERE spent_by = ?').run(txid);
}
