import { change } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { mineBlocks } from './blocks.ts';
import { broadcast } from './broadcast.ts';
import { nextUnusedScript, type ScriptOwner } from './scripts.ts';
import { coinbaseTransaction } from './transaction.ts';

/** Ledger account that all coins come from; its balance is minus the sum of all coins. */
export const GENESIS = 'genesis';

/** 21 million BTC in a hundred coins, so that many payments of the outside world can be replaced separately. */
const COINS = 100;
const COIN_SAT = 210_000n * 100_000_000n;
/** Blocks until the coins of a coinbase may be spent (consensus). */
const COINBASE_MATURITY = 100;

/** Starts the chain of a new world and gives all coins to `outside`; does nothing where the chain has started. */
export function openChain(world: World, outside: ScriptOwner): void {
  world.transact(() => {
    const sql = 'INSERT OR IGNORE INTO chain_tip (id, height, time_ms) VALUES (1, 0, ?)';
    if (change(world, sql, world.clock.now()) === 0) return;
    const { script } = nextUnusedScript(world, outside, 'receive');
    const outputs = Array.from({ length: COINS }, () => ({ script, valueSat: COIN_SAT }));
    broadcast(world, {
      transaction: coinbaseTransaction(1, outputs),
      payer: GENESIS,
      fee: [],
    });
    mineBlocks(world, 1 + COINBASE_MATURITY);
  });
}
