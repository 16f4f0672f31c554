import { dustLimitSat } from '../../../codecs/dust.ts';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { BumpFeeCommand } from '../../node.ts';
import { feeSuffices, nothingToRaise } from '../../refusals.ts';
import { broadcast } from '../chain/broadcast.ts';
import { type UnspentOutput, unconfirmedChange } from '../chain/outputs.ts';
import { nextUnusedScript } from '../chain/scripts.ts';
import { requireFeeWithin, signedBy, signedNow } from '../chain/spend.ts';
import { FEE_RATES, transactionVsize } from '../chain/weight.ts';
import { firstRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { recordMiningFee } from './mining-fee.ts';
import { onchainAccount, walletCoins } from './owners.ts';

/** A child to make, or the one that is there and pays as much. */
type Child =
  | {
      readonly isNew: true;
      readonly change: UnspentOutput;
      readonly feeSat: bigint;
      readonly script: Uint8Array;
    }
  | { readonly isNew: false; readonly feeSat: bigint };

/** Returns what raising the fee would cost now, in millisatoshis; see `NodeOnchain.bumpFeeBoundMsat`. */
export function bumpFeeBoundMsat(world: World, userPk: string, command: BumpFeeCommand): bigint {
  return world.transact(() => childOf(world, userPk, command).feeSat * MSAT_PER_SAT);
}

/** Raises the fee of a send by a child that spends its change; see `NodeOnchain.bumpFee`. */
export function bumpFee(
  world: World,
  userPk: string,
  command: BumpFeeCommand & { readonly maxFeeMsat: bigint | null },
): { readonly feeMsat: bigint; readonly isNew: boolean } {
  return world.transact(() => {
    const child = childOf(world, userPk, command);
    const feeMsat = child.feeSat * MSAT_PER_SAT;
    if (!child.isNew) return { feeMsat, isNew: false };
    requireFeeWithin(feeMsat, command.maxFeeMsat);
    const { change, script, feeSat } = child;
    const payer = onchainAccount(userPk);
    const input = signedBy(walletCoins(world, userPk), change);
    const output = { script, valueSat: change.valueSat - feeSat };
    const transaction = signedNow(world, [input], [output]);
    broadcast(world, {
      transaction,
      payer,
      fee: [{ from: payer, amountMsat: feeMsat }],
    });
    recordMiningFee(world, userPk, { transaction, feeMsat });
    return { feeMsat, isNew: true };
  });
}

function childOf(world: World, userPk: string, { txid, priority }: BumpFeeCommand): Child {
  const owner = walletCoins(world, userPk);
  const rate = BigInt(FEE_RATES[priority]);
  const parent = unconfirmedOf(world, owner.owner, txid);
  const change = unconfirmedChange(world, owner.owner, txid);
  if (change === null) throw refused('The transaction has no change whose coins could pay a fee.');
  if (change.spentBy !== null) {
    const child = unconfirmedOf(world, owner.owner, change.spentBy);
    const paidSat = parent.feeSat + child.feeSat;
    if (paidSat >= rate * (parent.vsize + child.vsize))
      return { isNew: false, feeSat: child.feeSat };
    throw refused('Another transaction spends its change already: wait for the next block.');
  }
  const { script } = nextUnusedScript(world, owner, 'change');
  const childVsize = BigInt(transactionVsize([change.kind], [script]));
  if (parent.feeSat >= rate * parent.vsize) {
    throw feeSuffices();
  }
  const feeSat = rate * (parent.vsize + childVsize) - parent.feeSat;
  if (change.valueSat - feeSat >= dustLimitSat(script)) {
    return { isNew: true, change, feeSat, script };
  }
  throw refused(`Its change of ${change.valueSat} sats does not pay the fee of ${feeSat} sats.`);
}

function unconfirmedOf(world: World, payer: string, txid: string) {
  const row = firstRow<{ feeSat: number; vsize: number; height: number | null }>(
    world,
    `SELECT fee_sat AS feeSat, vsize, height FROM chain_transactions
     WHERE txid = ? AND payer = ? AND replaced_by IS NULL`,
    txid,
    payer,
  );
  if (row === null) throw refused('The wallet has not sent that transaction: check the payment.');
  if (row.height !== null) throw nothingToRaise();
  return { feeSat: BigInt(row.feeSat), vsize: BigInt(row.vsize) };
}
