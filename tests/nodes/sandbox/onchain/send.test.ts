import { describe, expect, test } from 'bun:test';
import { decodeAddress } from '../../../../src/codecs/address.ts';
import { receiveId } from '../../../../src/model/payment-index.ts';
import type { PayOnchainCommand, SignedSend } from '../../../../src/nodes/node.ts';
import { spendableOutputs } from '../../../../src/nodes/sandbox/chain/outputs.ts';
import { nextUnusedAddress, onchainBalances } from '../../../../src/nodes/sandbox/onchain/funds.ts';
import { onchainAccount } from '../../../../src/nodes/sandbox/onchain/owners.ts';
import {
  estimateOnchainFeeMsat,
  publishOnchain,
  releaseSigned,
  renewSigned,
  signOnchain,
} from '../../../../src/nodes/sandbox/onchain/send.ts';
import { balanceMsat } from '../../../../src/nodes/sandbox/world/ledger.ts';
import { findPayment, latestPayment } from '../../../../src/nodes/sandbox/world/payments.ts';
import { ledgerGaps, onchainWorld } from '../../../support/onchain-world.ts';

const FOREIGN = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const MINUTE_MS = 60_000;

function setUp({ coins = 1 } = {}) {
  const setup = onchainWorld();
  const { world, wallet, fund } = setup;
  const alice = wallet();
  for (let coin = 0; coin < coins; coin++) fund(alice, 100_000);
  return {
    ...setup,
    alice,
    sign: (command: PayOnchainCommand) => signOnchain(world, alice, command),
    publish: (command: PayOnchainCommand, signed: SignedSend) =>
      publishOnchain(world, alice, command, signed),
    spendable: () => spendableOutputs(world, onchainAccount(alice)).length,
    mempool: () =>
      world.db
        .query<{ txid: string; raw: Uint8Array }, []>(
          'SELECT txid, raw FROM chain_transactions WHERE height IS NULL',
        )
        .all()
        .map(({ txid, raw }) => ({ txid, txHex: Buffer.from(raw).toString('hex') })),
  };
}

const refusal = (message: string) =>
  expect.objectContaining({ kind: 'refused', message: expect.stringContaining(message) });

describe('sign', () => {
  test('publishes nothing, books nothing, and the balances show the coins as before', () => {
    const { world, alice, command, sign, mempool, spendable } = setUp();
    const before = onchainBalances(world, alice);
    const order = command(FOREIGN, 30_000);
    const signed = sign(order);
    expect(signed).toMatchObject({ txid: expect.stringMatching(/^[0-9a-f]{64}$/), locks: [{}] });
    expect(mempool()).toEqual([]);
    expect(onchainBalances(world, alice)).toEqual(before);
    expect(findPayment(world, alice, order.index)).toBeNull();
    expect(spendable()).toBe(0);
  });

  test('says the fee that is then paid', () => {
    const { world, alice, command, sign, publish } = setUp();
    const order = command(FOREIGN, 30_000);
    const estimate = estimateOnchainFeeMsat(world, alice, order);
    const signed = sign(order);
    expect(BigInt(signed.feeMsat)).toBe(estimate);
    expect(publish(order, signed).feesMsat).toBe(estimate);
  });

  test('is priced beforehand without a write, whether the coins suffice or not', () => {
    const { world, alice, command } = setUp();
    const changes = () => world.db.query('SELECT total_changes() AS n').get();
    const before = changes();
    expect(estimateOnchainFeeMsat(world, alice, command(FOREIGN, 30_000))).toBeGreaterThan(0n);
    expect(() => estimateOnchainFeeMsat(world, alice, command(FOREIGN, 200_000))).toThrow(
      refusal('short'),
    );
    expect(changes()).toEqual(before);
  });

  test('refuses a fee above the limit and locks no coin', () => {
    const { world, alice, command, sign, spendable } = setUp();
    const feeMsat = estimateOnchainFeeMsat(world, alice, command(FOREIGN, 30_000));
    const tooLow = command(FOREIGN, 30_000, { maxFeeMsat: feeMsat - 1n });
    expect(() => sign(tooLow)).toThrow(refusal('above the limit'));
    expect(spendable()).toBe(1);
  });

  test('takes no coin of another signed send, and pays the change of each to an address of its own', () => {
    const { command, sign, publish } = setUp({ coins: 2 });
    const orders = [command(FOREIGN, 30_000), command(FOREIGN, 30_000)];
    const signed = orders.map(sign);
    expect(() => sign(command(FOREIGN, 30_000))).toThrow(refusal('short'));
    const outpoints = signed.flatMap(({ locks }) => locks.map(({ outpoint }) => outpoint));
    expect(new Set(outpoints).size).toBe(2);
    const changes = orders.map((order, at) => {
      const { tx } = publish(order, signed[at] as SignedSend);
      return tx?.output[1]?.script_pubkey;
    });
    expect(new Set(changes).size).toBe(2);
  });
});

describe('the locks of a signed send', () => {
  test('run out after ten minutes of the clock, so a crash before publishing costs nothing', () => {
    const { world, alice, command, sign, spendable, publish } = setUp();
    sign(command(FOREIGN, 30_000));
    world.clock.advance(10 * MINUTE_MS - 1);
    expect(spendable()).toBe(0);
    world.clock.advance(1);
    expect(spendable()).toBe(1);
    const order = command(FOREIGN, 30_000);
    expect(publish(order, sign(order)).status).toBe('pending');
    expect(ledgerGaps(world)[onchainAccount(alice)]).toBe(0n);
  });

  test('run ten minutes from each renewal, after they had run out too', () => {
    const { world, alice, command, sign, spendable } = setUp();
    const signed = sign(command(FOREIGN, 30_000));
    world.clock.advance(9 * MINUTE_MS);
    renewSigned(world, alice, signed);
    world.clock.advance(9 * MINUTE_MS);
    expect(spendable()).toBe(0);
    world.clock.advance(9 * MINUTE_MS);
    expect(spendable()).toBe(1);
    renewSigned(world, alice, signed);
    expect(spendable()).toBe(0);
  });

  test('cannot be renewed once another send has the coins, signed or published', () => {
    const { world, alice, command, sign, publish } = setUp();
    const signed = sign(command(FOREIGN, 30_000));
    world.clock.advance(10 * MINUTE_MS);
    const other = command(FOREIGN, 20_000);
    const otherSigned = sign(other);
    expect(() => renewSigned(world, alice, signed)).toThrow(refusal('Another transaction'));
    publish(other, otherSigned);
    expect(() => renewSigned(world, alice, signed)).toThrow(refusal('Another transaction'));
    renewSigned(world, alice, otherSigned);
  });

  test('end when the send is released, and only those of that send and wallet', () => {
    const { world, alice, wallet, command, sign, spendable } = setUp({ coins: 2 });
    const [first] = [sign(command(FOREIGN, 30_000)), sign(command(FOREIGN, 30_000))];
    releaseSigned(world, wallet(), first);
    expect(spendable()).toBe(0);
    releaseSigned(world, alice, first);
    expect(spendable()).toBe(1);
    releaseSigned(world, alice, first);
  });
});

describe('publish', () => {
  test('puts exactly the signed bytes into the mempool, once: a repeat reports the same payment', () => {
    const { command, sign, publish, mempool } = setUp();
    const order = command(FOREIGN, 30_000);
    const signed = sign(order);
    const first = publish(order, signed);
    expect(first).toMatchObject({ txid: signed.txid, status: 'pending', statusMsg: 'broadcasted' });
    expect(mempool()).toEqual([{ txid: signed.txid, txHex: signed.txHex }]);
    expect(publish(order, signed)).toEqual(first);
    expect(mempool()).toHaveLength(1);
  });

  test('of a second signing of the same id reports the first payment and gives the coins back', () => {
    const { command, sign, publish, mempool, spendable } = setUp({ coins: 2 });
    const order = command(FOREIGN, 30_000);
    const [signed, again] = [sign(order), sign(order)];
    const first = publish(order, signed);
    const before = spendable();
    expect(publish(order, again)).toEqual(first);
    expect(mempool()).toHaveLength(1);
    expect(spendable()).toBe(before + 1);
  });

  test('moves the money, shows it to the receiver and completes with the confirmations', () => {
    const { world, miner, alice, wallet, command, sign, publish, reload } = setUp();
    const bob = wallet();
    const order = command(nextUnusedAddress(world, bob, 'segwit'), 30_000);
    const signed = sign(order);
    const sent = publish(order, signed);
    expect(balanceMsat(world, onchainAccount(alice))).toBe(70_000_000n - sent.feesMsat);
    expect(latestPayment(world, bob, receiveId(signed.txid, 0))?.amountMsat).toBe(30_000_000n);
    expect(Object.values(ledgerGaps(world)).every((gap) => gap === 0n)).toBe(true);
    miner.mine(6);
    expect(reload(alice, sent).status).toBe('completed');
  });

  test('works after the locks ran out, while the coins are there', () => {
    const { world, command, sign, publish } = setUp();
    const order = command(FOREIGN, 30_000);
    const signed = sign(order);
    world.clock.advance(60 * MINUTE_MS);
    expect(publish(order, signed).txid).toBe(signed.txid);
  });

  test('is refused, with nothing sent, when another transaction spent the coins', () => {
    const { world, alice, command, sign, publish, mempool } = setUp();
    const order = command(FOREIGN, 30_000);
    const signed = sign(order);
    world.clock.advance(10 * MINUTE_MS);
    const other = command(FOREIGN, 20_000);
    publish(other, sign(other));
    expect(() => publish(order, signed)).toThrow(refusal('can never confirm'));
    expect(findPayment(world, alice, order.index)).toBeNull();
    expect(mempool()).toHaveLength(1);
  });

  test.each([
    ['damaged', (signed: SignedSend) => ({ ...signed, txHex: signed.txHex.slice(2) }), {}],
    ['not of that txid', (signed: SignedSend) => ({ ...signed, txid: '00'.repeat(32) }), {}],
    ['for another amount', (signed: SignedSend) => signed, { amountMsat: 29_000_000n }],
    [
      'for another address',
      (signed: SignedSend) => signed,
      { address: decodeAddress('mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn') },
    ],
  ])('refuses bytes that are %s', (_name, change, other) => {
    const { command, sign, publish, mempool } = setUp();
    const order = command(FOREIGN, 30_000);
    const signed = change(sign(order));
    expect(() => publish({ ...order, ...other }, signed)).toThrow(refusal('sign a new one'));
    expect(mempool()).toEqual([]);
  });

  test("refuses a transaction of another wallet's coins", () => {
    const { world, wallet, command, sign } = setUp();
    const order = command(FOREIGN, 30_000);
    const signed = sign(order);
    expect(() => publishOnchain(world, wallet(), order, signed)).toThrow(
      expect.objectContaining({ kind: 'refused' }),
    );
  });
});
