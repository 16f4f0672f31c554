import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import { broadcast, MINING_FEES } from '../chain/broadcast.ts';
import { watchReplacement } from '../chain/finality.ts';
import { outputsSpentBy } from '../chain/outputs.ts';
import { nextUnusedScript } from '../chain/scripts.ts';
import { signedBy, signedNow } from '../chain/spend.ts';
import { FEE_RATES, transactionVsize } from '../chain/weight.ts';
import { transfer } from '../world/ledger.ts';
import { allRows, change, firstRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { outsideCoins } from './owners.ts';

interface TransactionRow {
  readonly payer: string;
  readonly feeSat: number;
  readonly height: number | null;
  readonly replacedBy: string | null;
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
    const outside = outsideCoins(world);
    const inputs = outputsSpentBy(world, txid).map((output) => signedBy(outside, output));
    takeBack(world, txid, replaced);

    const { script } = nextUnusedScript(world, outside, 'change');
    const vsize = transactionVsize(
      inputs.map(() => 'p2tr'),
      [script],
    );
    // BIP 125: the replacement must pay for its own relay in addition to the fee of what it replaces.
    const feeSat = BigInt(replaced.feeSat) + BigInt(vsize * FEE_RATES.high);
    const inSat = inputs.reduce((sum, { valueSat }) => sum + valueSat, 0n);
    const transaction = signedNow(world, inputs, [{ script, valueSat: inSat - feeSat }]);
    broadcast(world, {
      transaction,
      payer: outside.owner,
      fee: [{ from: outside.owner, amountMsat: feeSat * MSAT_PER_SAT }],
    });
    const sql = 'UPDATE chain_transactions SET replaced_by = ? WHERE txid = ?';
    change(world, sql, transaction.txid, txid);
    watchReplacement(world, { txid, replacement: transaction.txid });
    return transaction.txid;
  });
}

function replaceable(world: World, txid: string): TransactionRow {
  const row = firstRow<TransactionRow>(
    world,
    `SELECT payer, fee_sat AS feeSat, height, replaced_by AS replacedBy
     FROM chain_transactions WHERE txid = ?`,
    txid,
  );
  if (row === null) throw refused('The chain has no transaction of that txid; check the txid.');
  if (row.payer !== outsideCoins(world).owner) {
    throw refused(
      'Only payments of the outside world can be replaced; fund the wallet on chain first.',
    );
  }
  if (row.replacedBy !== null) {
    throw refused(
      `The transaction was replaced by ${row.replacedBy} already; nothing is left to do.`,
    );
  }
  if (row.height !== null) {
    throw refused(
      'The transaction is confirmed, so it cannot be replaced; fund the wallet once more and replace that.',
    );
  }
  const hasOutput = (which: string) =>
    firstRow(world, `SELECT 1 FROM chain_outputs WHERE txid = ? AND ${which}`, txid) !== null;
  if (hasOutput('spent_by IS NOT NULL')) {
    throw refused(
      'Another transaction spends its outputs; mine a block, fund the wallet once more and replace that.',
    );
  }
  if (hasOutput("owner LIKE 'channel:%'")) {
    throw refused('The transaction funds a channel; replace a payment to an address instead.');
  }
  return row;
}

/** Undoes the changes of an unconfirmed transaction to the outputs and the ledger. */
function takeBack(world: World, txid: string, { payer, feeSat }: TransactionRow): void {
  const outputs = allRows<{ owner: string; valueSat: number }>(
    world,
    'DELETE FROM chain_outputs WHERE txid = ? RETURNING owner, value_sat AS valueSat',
    txid,
  );
  for (const { owner, valueSat } of [...outputs, { owner: MINING_FEES, valueSat: feeSat }]) {
    const amountMsat = BigInt(valueSat) * MSAT_PER_SAT;
    transfer(world, { from: owner, to: payer, amountMsat });
  }
  change(world, 'UPDATE chain_outputs SET spent_by = NULL WHERE spent_by = ?', txid);
}
