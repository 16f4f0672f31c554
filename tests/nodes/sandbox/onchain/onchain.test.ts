import { describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Transaction } from '@scure/btc-signer';
import fc from 'fast-check';
import { decodeAddress, encodeWitnessAddress } from '../../../../src/codecs/address.ts';
import { paymentId, receiveId } from '../../../../src/model/payment-index.ts';
import { MINING_FEES } from '../../../../src/nodes/sandbox/chain/broadcast.ts';
import { FEE_RATES } from '../../../../src/nodes/sandbox/chain/weight.ts';
import { nextUnusedAddress, onchainBalances } from '../../../../src/nodes/sandbox/onchain/funds.ts';
import { estimateOnchainFeeMsat } from '../../../../src/nodes/sandbox/onchain/send.ts';
import { balanceMsat } from '../../../../src/nodes/sandbox/world/ledger.ts';
import { latestPayment } from '../../../../src/nodes/sandbox/world/payments.ts';
import { temporaryFolder } from '../../../support/folder.ts';
import { ledgerGaps, onchainWorld, payOnchain, START_MS } from '../../../support/onchain-world.ts';
import { rounds } from '../../../support/rounds.ts';

/** An address without a wallet in this world (the example program of BIP 350, on regtest). */
const FOREIGN = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

describe('payOnchain', () => {
  test('answers the payment pending and broadcasted, with its transaction, its fee and no end', () => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const sent = payOnchain(world, alice, command(FOREIGN, 30_000));
    expect(sent).toMatchObject({
      rail: 'onchain',
      kind: 'onchain',
      direction: 'outbound',
      status: 'pending',
      statusMsg: 'broadcasted',
      amountMsat: 30_000_000n,
      address: FOREIGN,
      priority: 'normal',
      finalizedAtMs: null,
      hash: null,
      replacement: null,
    });
    expect(sent.txid).toMatch(/^[0-9a-f]{64}$/);
    expect(sent.tx?.output[0]).toEqual({
      value: 30_000,
      script_pubkey: '0014751e76e8199196d454941c45d1b3a323f1433bd6',
    });
    const inputSats = 100_000;
    const outputSats = sent.tx?.output.reduce((sum, { value }) => sum + value, 0) ?? 0;
    expect(sent.feesMsat).toBe(BigInt(inputSats - outputSats) * 1000n);
  });

  test('stores the serialized transaction that the tx object shows', () => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const sent = payOnchain(world, alice, command(FOREIGN, 30_000));
    const row = world.db
      .query<{ raw: Uint8Array }, [string | null]>(
        'SELECT raw FROM chain_transactions WHERE txid = ?',
      )
      .get(sent.txid);
    const parsed = Transaction.fromRaw(new Uint8Array(row?.raw ?? []));
    expect(parsed.id).toBe(sent.txid ?? '');
    expect(parsed.isFinal).toBe(true);
  });

  test('moves the amount to the receiver and the fee to the miners, and keeps the change', () => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const before = balanceMsat(world, MINING_FEES);
    const sent = payOnchain(world, alice, command(FOREIGN, 30_000));
    expect(onchainBalances(world, alice).onchainBalanceMsat).toBe(70_000_000n - sent.feesMsat);
    expect(balanceMsat(world, MINING_FEES) - before).toBe(sent.feesMsat);
    expect(Object.values(ledgerGaps(world)).every((gap) => gap === 0n)).toBe(true);
  });

  test('completes at 6 confirmations and not at 5, at the time of the sandbox clock', () => {
    const { world, miner, wallet, fund, command, reload } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const sent = payOnchain(world, alice, command(FOREIGN, 30_000));
    miner.mine(5);
    expect(reload(alice, sent)).toMatchObject({ status: 'pending', finalizedAtMs: null });
    world.clock.advance(60_000);
    miner.mine(1);
    expect(reload(alice, sent)).toMatchObject({
      status: 'completed',
      statusMsg: 'completed',
      finalizedAtMs: START_MS + 60_000,
    });
  });

  test('sends once for an id: a repeat answers the first payment, whatever it asks', () => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const id = 'ab'.repeat(32);
    const first = payOnchain(world, alice, command(FOREIGN, 30_000, { id }));
    const balance = onchainBalances(world, alice);
    expect(payOnchain(world, alice, command(FOREIGN, 10_000, { id }))).toEqual(first);
    expect(onchainBalances(world, alice)).toEqual(balance);
  });

  test('a higher priority pays a higher fee, by the size of the transaction', () => {
    const { world, wallet, fund, command } = onchainWorld();
    const fees = (['background', 'normal', 'high'] as const).map((priority) => {
      const alice = wallet();
      fund(alice, 100_000);
      const sent = payOnchain(world, alice, command(FOREIGN, 30_000, { priority }));
      const vsize = world.db
        .query<{ vsize: number }, [string | null]>(
          'SELECT vsize FROM chain_transactions WHERE txid = ?',
        )
        .get(sent.txid)?.vsize;
      expect(Number(sent.feesMsat / 1000n)).toBeGreaterThanOrEqual(
        (vsize ?? 0) * FEE_RATES[priority],
      );
      return sent.feesMsat;
    });
    const [background = 0n, normal = 0n, high = 0n] = fees;
    expect(background < normal && normal < high).toBe(true);
  });

  test('the estimate is the fee that is then paid', () => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const order = command(FOREIGN, 30_000);
    expect(estimateOnchainFeeMsat(world, alice, order)).toBe(
      payOnchain(world, alice, order).feesMsat,
    );
  });

  test.each([
    [
      'an address of another network',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      30_000n * 1000n,
      'ask for an address on regtest',
    ],
    ['dust', FOREIGN, 293_000n, 'send at least 294 sats'],
    ['parts of a satoshi', FOREIGN, 30_000_001n, 'whole satoshis'],
    ['more than there is', FOREIGN, 100_000n * 1000n, 'and a fee of 550 sats'],
  ])('refuses %s and sends nothing', (_name, address, amountMsat, message) => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const order = { ...command(address, 1), amountMsat };
    const before = onchainBalances(world, alice);
    expect(() => payOnchain(world, alice, order)).toThrow(
      expect.objectContaining({ kind: 'refused', message: expect.stringContaining(message) }),
    );
    expect(onchainBalances(world, alice)).toEqual(before);
    expect(latestPayment(world, alice, paymentId('os', order.index.slice(-64)))).toBeNull();
  });

  test.each([
    ['P2PKH', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
    ['P2SH', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc'],
    ['P2WSH', 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry'],
    ['P2TR', 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6'],
    [
      'a witness version of the future',
      encodeWitnessAddress(16, new Uint8Array(40).fill(5), 'regtest') ?? '',
    ],
  ])('pays %s addresses', (_name, address) => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const sent = payOnchain(world, alice, command(address, 30_000));
    expect(sent.tx?.output[0]?.script_pubkey).toBe(
      Buffer.from(decodeAddress(address).scriptPubKey).toString('hex'),
    );
  });

  test('refuses a fee above the limit of the command, and takes one at the limit', () => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const feeMsat = estimateOnchainFeeMsat(world, alice, command(FOREIGN, 30_000));
    expect(() =>
      payOnchain(world, alice, command(FOREIGN, 30_000, { maxFeeMsat: feeMsat - 1n })),
    ).toThrow(
      expect.objectContaining({
        kind: 'refused',
        message: expect.stringContaining('above the limit'),
      }),
    );
    const sent = payOnchain(world, alice, command(FOREIGN, 30_000, { maxFeeMsat: feeMsat }));
    expect(sent.feesMsat).toBe(feeMsat);
  });

  test('spends its own change before that is confirmed, and never unconfirmed coins of others', () => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    fund(alice, 500_000, { confirmed: false });
    payOnchain(world, alice, command(FOREIGN, 30_000));
    const second = payOnchain(world, alice, command(FOREIGN, 30_000));
    expect(second.status).toBe('pending');
    expect(() => payOnchain(world, alice, command(FOREIGN, 100_000))).toThrow(
      expect.objectContaining({ kind: 'refused', message: expect.stringContaining('short') }),
    );
  });

  test('a payment to another wallet of the world shows there in the same moment, under the id of its outpoint', () => {
    const { world, miner, wallet, fund, command, reload } = onchainWorld();
    const [alice, bob] = [wallet(), wallet()];
    fund(alice, 100_000);
    const address = nextUnusedAddress(world, bob, 'segwit');
    const sent = payOnchain(world, alice, command(address, 30_000));
    const received = latestPayment(world, bob, receiveId(sent.txid ?? '', 0));
    expect(received).toMatchObject({
      rail: 'onchain',
      direction: 'inbound',
      status: 'pending',
      statusMsg: 'broadcasted',
      amountMsat: 30_000_000n,
      feesMsat: 0n,
      txid: sent.txid,
      address,
      priority: null,
    });
    expect(onchainBalances(world, bob)).toEqual({
      onchainBalanceMsat: 30_000_000n,
      onchainTrustedMsat: 0n,
    });
    miner.mine(6);
    expect(received && reload(bob, received).status).toBe('completed');
    expect(reload(alice, sent).status).toBe('completed');
  });

  test('a payment to itself costs the fee only', () => {
    const { world, wallet, fund, command } = onchainWorld();
    const alice = wallet();
    fund(alice, 100_000);
    const sent = payOnchain(
      world,
      alice,
      command(nextUnusedAddress(world, alice, 'segwit'), 30_000),
    );
    expect(onchainBalances(world, alice)).toEqual({
      onchainBalanceMsat: 100_000_000n - sent.feesMsat,
      onchainTrustedMsat: 100_000_000n - sent.feesMsat,
    });
  });
});

describe('after a restart', () => {
  test('blocks that came due while it was down complete the payment, and its id still sends once', () => {
    const folder = temporaryFolder('sandbox');
    const path = join(folder, 'sandbox.sqlite');
    const before = onchainWorld({ path, blockSecs: 10 });
    const alice = before.wallet();
    before.fund(alice, 100_000);
    const order = before.command(FOREIGN, 30_000);
    const sent = payOnchain(before.world, alice, order);
    before.miner.close();
    before.world.close();

    const after = onchainWorld({ path, blockSecs: 10, nowMs: START_MS + 60_000 });
    const found = payOnchain(after.world, alice, order);
    expect(found).toMatchObject({ txid: sent.txid, status: 'completed' });
    expect(onchainBalances(after.world, alice).onchainBalanceMsat).toBe(
      70_000_000n - sent.feesMsat,
    );
    after.miner.close();
    after.world.close();
    rmSync(folder, { recursive: true });
  });
});

describe('nextUnusedAddress', () => {
  test('stays the same until a payment to it is seen', () => {
    const { world, wallet, fund } = onchainWorld();
    const alice = wallet();
    const first = nextUnusedAddress(world, alice, 'segwit');
    expect(first).toStartWith('bcrt1q');
    expect(nextUnusedAddress(world, alice, 'segwit')).toBe(first);
    fund(alice, 10_000, { confirmed: false });
    expect(nextUnusedAddress(world, alice, 'segwit')).not.toBe(first);
  });

  test('is not that of another wallet', () => {
    const { world, wallet } = onchainWorld();
    expect(nextUnusedAddress(world, wallet(), 'segwit')).not.toBe(
      nextUnusedAddress(world, wallet(), 'segwit'),
    );
  });
});

describe('money on chain', () => {
  test('is conserved: what accounts own is what their unspent outputs hold, and 21 million BTC in all', () => {
    const operation = fc.record({
      kind: fc.constantFrom('send', 'fund', 'mine'),
      from: fc.nat(2),
      to: fc.nat(3),
      sats: fc.integer({ min: 1, max: 60_000 }),
      priority: fc.constantFrom('high' as const, 'normal' as const, 'background' as const),
      id: fc.constantFrom('aa', 'bb', 'cc', 'dd'),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 15 }), (operations) => {
        const { world, miner, wallet, fund, command } = onchainWorld();
        const wallets = [wallet(), wallet(), wallet()];
        const sentIds = new Map<string, string | null>();
        for (const pk of wallets) fund(pk, 50_000);
        for (const { kind, from, to, sats, priority, id } of operations) {
          const payer = wallets[from] ?? '';
          const receiver = wallets[to];
          if (kind === 'mine') miner.mine(1);
          else if (kind === 'fund') fund(payer, sats + 294, { confirmed: false });
          else {
            const address =
              receiver === undefined ? FOREIGN : nextUnusedAddress(world, receiver, 'segwit');
            const order = command(address, sats, { priority, id: id.repeat(32) });
            const key = `${payer}/${id}`;
            try {
              const { txid } = payOnchain(world, payer, order);
              expect(sentIds.get(key) ?? txid).toBe(txid);
              sentIds.set(key, txid);
            } catch (error) {
              expect(error).toMatchObject({ kind: 'refused' });
            }
          }
          expect(Object.values(ledgerGaps(world)).filter((gap) => gap !== 0n)).toEqual([]);
        }
        const existing = world.db
          .query<{ sats: number }, []>(
            'SELECT sum(value_sat) AS sats FROM chain_outputs WHERE spent_by IS NULL',
          )
          .get();
        expect(BigInt(existing?.sats ?? 0) * 1000n + balanceMsat(world, MINING_FEES)).toBe(
          21_000_000n * 100_000_000n * 1000n,
        );
      }),
      { numRuns: rounds(6, 25) },
    );
  }, 120_000);
});
