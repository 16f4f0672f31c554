import { randomBytes } from 'node:crypto';
import { decodeAddress } from '../../src/codecs/address.ts';
import { MSAT_PER_SAT } from '../../src/model/amount.ts';
import type { Payment, Priority } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import type { PayOnchainCommand } from '../../src/nodes/node.ts';
import { tipHeight } from '../../src/nodes/sandbox/chain/blocks.ts';
import { openChain } from '../../src/nodes/sandbox/chain/genesis.ts';
import { type Miner, startMiner } from '../../src/nodes/sandbox/chain/miner.ts';
import { nextUnusedAddress } from '../../src/nodes/sandbox/onchain/funds.ts';
import { outsideCoins } from '../../src/nodes/sandbox/onchain/owners.ts';
import { receiveFromOutside } from '../../src/nodes/sandbox/onchain/receive.ts';
import { publishOnchain, signOnchain } from '../../src/nodes/sandbox/onchain/send.ts';
import { balanceMsat } from '../../src/nodes/sandbox/world/ledger.ts';
import { findPayment } from '../../src/nodes/sandbox/world/payments.ts';
import { signUp } from '../../src/nodes/sandbox/world/wallets.ts';
import { openWorld, type World } from '../../src/nodes/sandbox/world/world.ts';

/** A world in memory with a clock that a test moves and a chain that is mined on request. */
export interface OnchainWorld {
  readonly world: World;
  readonly miner: Miner;
  wallet(): string;
  fund(userPk: string, sats: number, options?: { confirmed?: boolean }): Payment;
  /** A send command, with an id of its own unless one is given. */
  command(address: string, sats: number, options?: CommandOptions): PayOnchainCommand;
  reload(userPk: string, payment: Payment): Payment;
}

interface CommandOptions {
  readonly id?: string;
  readonly priority?: Priority;
  readonly maxFeeMsat?: bigint;
}

export const START_MS = 1_700_000_000_000;

export function onchainWorld({
  blockSecs = 0,
  path = ':memory:',
  nowMs = START_MS,
} = {}): OnchainWorld {
  const world = openWorld({
    path,
    clock: { now: () => nowMs },
    random: randomBytes,
    warn: () => undefined,
  });
  openChain(world, outsideCoins(world));
  const miner = startMiner(world, { blockSecs });
  return {
    world,
    miner,
    wallet: () => signUp(world, randomBytes(32), { partnerPk: null }),
    fund: (userPk, sats, { confirmed = true } = {}) =>
      receiveFromOutside(world, {
        address: decodeAddress(nextUnusedAddress(world, userPk, 'segwit')),
        amountMsat: BigInt(sats) * MSAT_PER_SAT,
        confirmed,
      }).payment,
    command: (address, sats, { id, priority = 'normal', maxFeeMsat } = {}) => {
      const createdAtMs = world.clock.now();
      return {
        index: paymentIndex(createdAtMs, paymentId('os', id ?? randomBytes(32).toString('hex'))),
        createdAtMs,
        amountMsat: BigInt(sats) * MSAT_PER_SAT,
        address: decodeAddress(address),
        priority,
        maxFeeMsat: maxFeeMsat ?? null,
        personalNote: null,
        externalId: null,
      };
    },
    reload: (userPk, payment) => {
      const found = findPayment(world, userPk, payment.index);
      if (found === null) throw new Error('the payment is gone');
      return found;
    },
  };
}

/** Signs and publishes at once, as a send without interruption does. */
export function payOnchain(world: World, userPk: string, command: PayOnchainCommand): Payment {
  return publishOnchain(world, userPk, command, signOnchain(world, userPk, command));
}

/** For every on-chain account, the value of its unspent outputs less its balance in the ledger; all must be zero. */
export function ledgerGaps(world: World): Record<string, bigint> {
  const rows = world.db
    .query<{ owner: string; sats: number }, []>(
      'SELECT owner, sum(value_sat) AS sats FROM chain_outputs WHERE spent_by IS NULL GROUP BY owner',
    )
    .all();
  return Object.fromEntries(
    rows.map(({ owner, sats }) => [owner, BigInt(sats) * MSAT_PER_SAT - balanceMsat(world, owner)]),
  );
}

/** Confirmations of a transaction: 0 in the mempool, 1 in the newest block; null when it is unknown or was replaced. */
export function confirmations(world: World, txid: string): number | null {
  const row = world.db
    .query<{ height: number | null }, [string]>(
      'SELECT height FROM chain_transactions WHERE txid = ? AND replaced_by IS NULL',
    )
    .get(txid);
  if (row === null) return null;
  return row.height === null ? 0 : tipHeight(world) - row.height + 1;
}
