import { describe, expect, test } from 'bun:test';
import { MINING_FEES } from '../../../../src/nodes/sandbox/chain/broadcast.ts';
import {
  fundingScript,
  payToWallet,
  spendToScript,
} from '../../../../src/nodes/sandbox/onchain/channels.ts';
import { onchainBalances } from '../../../../src/nodes/sandbox/onchain/funds.ts';
import { OUTSIDE_ONCHAIN, walletCoins } from '../../../../src/nodes/sandbox/onchain/owners.ts';
import { balanceMsat, transfer } from '../../../../src/nodes/sandbox/world/ledger.ts';
import { confirmations, onchainWorld, payOnchain } from '../../../support/onchain-world.ts';

const OURS = `channel:${'11'.repeat(32)}:ours`;
const THEIRS = `channel:${'11'.repeat(32)}:theirs`;
const ourKey = new Uint8Array(32).fill(1);
const theirKey = new Uint8Array(32).fill(2);

function openChannel() {
  const setup = onchainWorld();
  const { world, wallet, fund } = setup;
  const alice = wallet();
  fund(alice, 200_000);
  const funding = world.transact(() =>
    spendToScript(world, walletCoins(world, alice), {
      scriptPubKey: fundingScript(ourKey, theirKey),
      valueSat: 100_000n,
      priority: 'normal',
      account: OURS,
    }),
  );
  return { ...setup, alice, funding };
}

describe('channels on chain', () => {
  test('opening one moves its value from the coins to the channel and costs the fee', () => {
    const { world, miner, alice, funding } = openChannel();
    expect(balanceMsat(world, OURS)).toBe(100_000_000n);
    expect(onchainBalances(world, alice).onchainBalanceMsat).toBe(
      100_000_000n - funding.feeSat * 1000n,
    );
    expect(confirmations(world, funding.txid)).toBe(0);
    miner.mine(1);
    expect(confirmations(world, funding.txid)).toBe(1);
  });

  test('closing one pays our side less the fee to coins that can be spent at once, and theirs outside', () => {
    const { world, alice, funding, command } = openChannel();
    world.transact(() => transfer(world, { from: OURS, to: THEIRS, amountMsat: 40_000_500n }));
    const outside = balanceMsat(world, OUTSIDE_ONCHAIN);
    const before = onchainBalances(world, alice).onchainBalanceMsat;
    const fees = balanceMsat(world, MINING_FEES);
    const closed = world.transact(() =>
      payToWallet(world, alice, {
        fundingTxid: funding.txid,
        fundingVout: funding.vout,
        ours: { account: OURS, amountMsat: 59_999_500n, secretKey: ourKey },
        theirs: { account: THEIRS, amountMsat: 40_000_500n, secretKey: theirKey },
      }),
    );
    expect(balanceMsat(world, OURS)).toBe(0n);
    expect(balanceMsat(world, THEIRS)).toBe(0n);
    expect(balanceMsat(world, OUTSIDE_ONCHAIN) - outside).toBe(40_000_000n);
    const after = onchainBalances(world, alice);
    expect(after.onchainBalanceMsat - before).toBe(closed.paidSat * 1000n);
    expect(after.onchainTrustedMsat).toBe(after.onchainBalanceMsat);
    expect(balanceMsat(world, MINING_FEES) - fees).toBe(60_000_000n - closed.paidSat * 1000n);
    const sweep = command('bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 150_000);
    expect(payOnchain(world, alice, sweep).status).toBe('pending');
  });

  test('closing one whose side is less than the fee gives it to the miners', () => {
    const { world, alice, funding } = openChannel();
    world.transact(() => transfer(world, { from: OURS, to: THEIRS, amountMsat: 99_900_000n }));
    const closed = world.transact(() =>
      payToWallet(world, alice, {
        fundingTxid: funding.txid,
        fundingVout: funding.vout,
        ours: { account: OURS, amountMsat: 100_000n, secretKey: ourKey },
        theirs: { account: THEIRS, amountMsat: 99_900_000n, secretKey: theirKey },
      }),
    );
    expect(closed.paidSat).toBe(0n);
    expect(balanceMsat(world, OURS)).toBe(0n);
    expect(balanceMsat(world, THEIRS)).toBe(0n);
  });
});
