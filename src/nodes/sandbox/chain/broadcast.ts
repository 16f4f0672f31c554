import { hex } from '@scure/base';
import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import { transfer } from '../world/ledger.ts';
import { change, insertRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { findScript, markUsed } from './scripts.ts';
import { COINBASE_OUTPOINT, type SignedTransaction } from './transaction.ts';
import { announceWork, catchUpChain } from './waiting-work.ts';

/** Ledger account of coins that went to scripts without a key in this world. */
const ELSEWHERE = 'outside:elsewhere';
/** Ledger account that mining fees are paid to. */
export const MINING_FEES = 'fees:mining';

/** Whose money an output becomes, where the script does not decide it. */
export interface OutputTerms {
  /** Ledger account that gets the output's coins; by default that of the owner of the script's key. */
  readonly account?: string;
  /** Ledger account that the money comes from; by default the payer. */
  readonly from?: string;
  /** Whether the owner caused the output although another pays: trusted at once, and no payment to the owner. */
  readonly own?: boolean;
}

interface FeeShare {
  readonly from: string;
  readonly amountMsat: bigint;
}

/** A transaction to put into the mempool. */
export interface Broadcast {
  readonly transaction: SignedTransaction;
  /** Ledger account that pays the outputs whose terms name no other. */
  readonly payer: string;
  /** Who pays how much of the fee; the sum is what the inputs have above the outputs. */
  readonly fee: readonly FeeShare[];
  readonly terms?: readonly OutputTerms[];
}

/** An output that arrived at a wallet, or at the outside world, in this world. */
export interface Receipt {
  readonly owner: string;
  readonly script: Uint8Array;
  readonly txid: string;
  readonly vout: number;
  readonly valueSat: bigint;
}

/**
 * Puts a transaction into the mempool: spends its inputs, makes its outputs and moves the money in the ledger. Works
 * within the caller's database transaction. Returns the outputs that arrived at receiving addresses.
 */
export function broadcast(world: World, sent: Broadcast): Receipt[] {
  const { transaction, payer } = sent;
  const { txid } = transaction;
  catchUpChain(world);
  const feeMsat = sent.fee.reduce((sum, { amountMsat }) => sum + amountMsat, 0n);
  const { raw, vsize } = transaction;
  const fee_sat = wholeSats(feeMsat);
  const seen_ms = world.clock.now();
  insertRow(world, 'chain_transactions', { txid, raw, payer, fee_sat, vsize, seen_ms });
  spendInputs(world, transaction);

  const receipts: Receipt[] = [];
  transaction.outputs.forEach(({ script, valueSat }, vout) => {
    const known = findScript(world, script);
    const terms = sent.terms?.[vout];
    const account = terms?.account ?? known?.owner ?? ELSEWHERE;
    const from = terms?.from ?? payer;
    const own = account === payer || terms?.own === true;
    insertRow(world, 'chain_outputs', {
      txid,
      vout,
      value_sat: valueSat,
      script: hex.encode(script),
      owner: account,
      untrusted: own ? 0 : 1,
    });
    transfer(world, { from, to: account, amountMsat: valueSat * MSAT_PER_SAT });
    if (known !== null) markUsed(world, script);
    if (known !== null && (known.branch === 'receive' || !own)) {
      receipts.push({ owner: known.owner, script, txid, vout, valueSat });
    }
  });
  for (const share of sent.fee) transfer(world, { ...share, to: MINING_FEES });
  announceWork(world);
  return receipts;
}

function spendInputs(world: World, { txid, json }: SignedTransaction): void {
  const sql =
    'UPDATE chain_outputs SET spent_by = ? WHERE txid = ? AND vout = ? AND spent_by IS NULL';
  for (const { previous_output } of json.input) {
    if (previous_output === COINBASE_OUTPOINT) continue;
    const [spentTxid = '', vout = ''] = previous_output.split(':');
    if (change(world, sql, txid, spentTxid, Number(vout)) === 1) continue;
    throw new Error(`transaction ${txid} spends ${previous_output}, which is not unspent`);
  }
}
