import { describe, expect, test } from 'bun:test';
import { liveChannels } from '../../../../src/nodes/sandbox/lightning/channels.ts';
import { paySpontaneously } from '../../../../src/nodes/sandbox/lightning/outside.ts';
import { nextUnusedAddress, onchainBalances } from '../../../../src/nodes/sandbox/onchain/funds.ts';
import { replaceOutsidePayment } from '../../../../src/nodes/sandbox/onchain/replace.ts';
import { ledgerGaps, onchainWorld, payOnchain } from '../../../support/onchain-world.ts';

describe('replaceOutsidePayment', () => {
  test('names the replacement, takes the money back, and fails the payment at its six confirmations', () => {
    const { world, miner, wallet, fund, reload } = onchainWorld();
    const alice = wallet();
    const received = fund(alice, 50_000, { confirmed: false });
    const replacement = replaceOutsidePayment(world, received.txid ?? '');
    expect(reload(alice, received)).toMatchObject({
      status: 'pending',
      statusMsg: 'broadcasted',
      finalizedAtMs: null,
      replacement,
    });
    expect(reload(alice, received).updatedAtMs).toBeGreaterThan(received.updatedAtMs);
    expect(onchainBalances(world, alice).onchainBalanceMsat).toBe(0n);
    expect(Object.values(ledgerGaps(world)).filter((gap) => gap !== 0n)).toEqual([]);
    miner.mine(5);
    expect(reload(alice, received).status).toBe('pending');
    miner.mine(1);
    expect(reload(alice, received)).toMatchObject({
      status: 'failed',
      statusMsg: 'replaced',
      replacement,
    });
  });

  test('a replacement that is itself replaced hands the payment on', () => {
    const { world, miner, wallet, fund, reload } = onchainWorld();
    const alice = wallet();
    const received = fund(alice, 50_000, { confirmed: false });
    const first = replaceOutsidePayment(world, received.txid ?? '');
    const second = replaceOutsidePayment(world, first);
    expect(reload(alice, received)).toMatchObject({ status: 'pending', replacement: second });
    miner.mine(6);
    expect(reload(alice, received)).toMatchObject({ status: 'failed', replacement: second });
  });

  test('spends the same coins with a higher fee', () => {
    const { world, wallet, fund } = onchainWorld();
    const received = fund(wallet(), 50_000, { confirmed: false });
    const replacement = replaceOutsidePayment(world, received.txid ?? '');
    const rows = world.db
      .query<{ txid: string; fee_sat: number; vsize: number }, [string | null, string]>(
        'SELECT txid, fee_sat, vsize FROM chain_transactions WHERE txid IN (?, ?)',
      )
      .all(received.txid, replacement);
    const [first, second] = [received.txid, replacement].map((txid) =>
      rows.find((row) => row.txid === txid),
    );
    expect(second?.fee_sat).toBeGreaterThanOrEqual((first?.fee_sat ?? 0) + (second?.vsize ?? 0));
    const spent = world.db
      .query<{ txid: string; vout: number }, [string]>(
        'SELECT txid, vout FROM chain_outputs WHERE spent_by = ?',
      )
      .all(replacement);
    expect(spent.map(({ txid, vout }) => `${txid}:${vout}`)).toEqual(
      received.tx?.input.map(({ previous_output }) => previous_output) ?? [],
    );
  });

  test('refuses what is confirmed, unknown, replaced already, funds a channel, or is not of the outside world', () => {
    const { world, miner, wallet, fund, command } = onchainWorld();
    const [alice, bob] = [wallet(), wallet()];
    const refusal = (txid: string | null, message: string) =>
      expect(() => replaceOutsidePayment(world, txid ?? '')).toThrow(
        expect.objectContaining({ kind: 'refused', message: expect.stringContaining(message) }),
      );
    const confirmed = fund(alice, 50_000);
    refusal(confirmed.txid, 'is confirmed');
    refusal('00'.repeat(32), 'no transaction of that txid');
    const received = fund(alice, 50_000, { confirmed: false });
    replaceOutsidePayment(world, received.txid ?? '');
    refusal(received.txid, 'was replaced');
    const sent = payOnchain(world, alice, command(nextUnusedAddress(world, bob, 'segwit'), 10_000));
    refusal(sent.txid, 'of the outside world');
    miner.mine(1);
    paySpontaneously(world, bob, { amountMsat: 5_000_000n, message: null });
    refusal(liveChannels(world, bob)[0]?.fundingOutpoint?.split(':')[0] ?? '', 'funds a channel');
  });
});
