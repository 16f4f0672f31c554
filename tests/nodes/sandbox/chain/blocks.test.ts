import { describe, expect, test } from 'bun:test';
import { tipHeight } from '../../../../src/nodes/sandbox/chain/blocks.ts';
import { confirmations, onchainWorld } from '../../../support/onchain-world.ts';

describe('blocks by the clock', () => {
  test('come every blockSecs, whether somebody looks or not', () => {
    const { world, miner } = onchainWorld({ blockSecs: 10 });
    const height = tipHeight(world);
    world.clock.advance(95_000);
    miner.catchUp();
    expect(tipHeight(world)).toBe(height + 9);
    world.clock.advance(5_000);
    miner.catchUp();
    expect(tipHeight(world)).toBe(height + 10);
    miner.close();
  });

  test('idle ones leave no rows', () => {
    const { world, miner } = onchainWorld({ blockSecs: 10 });
    const rows = () => world.db.query('SELECT height FROM chain_blocks').all().length;
    const before = rows();
    world.clock.advance(3_600_000);
    miner.catchUp();
    expect(rows()).toBe(before);
    miner.close();
  });

  test('a transaction goes into the first block that is due after it was seen, however late somebody looks', () => {
    const { world, miner, wallet, fund, reload } = onchainWorld({ blockSecs: 10 });
    const alice = wallet();
    world.clock.advance(1_000_000);
    const received = fund(alice, 50_000, { confirmed: false });
    miner.catchUp();
    expect(confirmations(world, received.txid ?? '')).toBe(0);
    world.clock.advance(59_000);
    miner.catchUp();
    expect(confirmations(world, received.txid ?? '')).toBe(5);
    expect(reload(alice, received).status).toBe('pending');
    world.clock.advance(1_000);
    miner.catchUp();
    expect(confirmations(world, received.txid ?? '')).toBe(6);
    expect(reload(alice, received).status).toBe('completed');
    miner.close();
  });

  test('a timer mines them while a payment waits', async () => {
    const { world, miner, wallet, fund } = onchainWorld({ blockSecs: 0.02 });
    const received = fund(wallet(), 50_000, { confirmed: false });
    world.clock.advance(20);
    const mined = Promise.withResolvers<void>();
    const poll = setInterval(() => {
      if (confirmations(world, received.txid ?? '') === 1) mined.resolve();
    }, 5);
    await mined.promise;
    clearInterval(poll);
    miner.close();
    expect(confirmations(world, received.txid ?? '')).toBe(1);
  });

  test('with blockSecs 0 only a request mines', () => {
    const { world, miner, wallet, fund } = onchainWorld({ blockSecs: 0 });
    const received = fund(wallet(), 50_000, { confirmed: false });
    world.clock.advance(86_400_000);
    miner.catchUp();
    expect(confirmations(world, received.txid ?? '')).toBe(0);
    const height = tipHeight(world);
    expect(miner.mine(3)).toBe(height + 3);
    expect(confirmations(world, received.txid ?? '')).toBe(3);
  });

  test('a recorded block has a hash of its own', () => {
    const { world, miner, wallet, fund } = onchainWorld();
    for (let i = 0; i < 3; i++) {
      fund(wallet(), 50_000, { confirmed: false });
      miner.mine(1);
    }
    const hashes = world.db
      .query<{ hash: string }, []>('SELECT hash FROM chain_blocks')
      .all()
      .map(({ hash }) => hash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashes.length).toBe(4);
  });
});
