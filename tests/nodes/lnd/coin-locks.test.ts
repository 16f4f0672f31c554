import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openLog } from '../../../src/lib/log.ts';
import { blankPayment, type Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { CoinLocks, LND_LOCK_ID } from '../../../src/nodes/lnd/reads/coin-locks.ts';
import type { PayOnchainCommand, WalletNode } from '../../../src/nodes/node.ts';
import { type Following, follow } from '../../contracts/node/steps.ts';
import type { Hooks } from '../../hostile/fake-lnd/gateway.ts';
import { type FakeLnd, startFakeLnd } from '../../hostile/fake-lnd.ts';
import { type FaultProxy, startFaultProxy } from '../../hostile/fault-proxy.ts';
import { throwing } from '../../support/rejection.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { MARK, onchainOf, sendCommand, walletOnFake } from './wallet-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** docs/decisions.md 152 */

const COIN_SAT = 1_000_000n;
const FUND = { method: 'POST', path: /^\/v2\/wallet\/psbt\/fund/ } as const;
const FINALIZE = { method: 'POST', path: /^\/v2\/wallet\/psbt\/finalize/ } as const;
const RELEASE = { method: 'POST', path: /^\/v2\/wallet\/utxos\/release/ } as const;
const CUT_AFTER = { kind: 'cut-after' } as const;

let fake: FakeLnd;
let proxy: FaultProxy;
let node: WalletNode;
let feed: Following | null = null;

async function start(hooks: Hooks = {}, onchainSat = COIN_SAT): Promise<void> {
  fake = await startFakeLnd({ onchainSat, hooks });
  proxy = await startFaultProxy(fake);
  node = await walletOnFake(fake, proxy);
}
async function stop(): Promise<void> {
  await feed?.end().catch(() => undefined);
  feed = null;
  await proxy?.stop();
  await fake?.stop();
}
afterEach(stop);

/** LND before 0.19 does not know the fields of a caller's own lock. */
const OLD_LND: Hooks = {
  intercept({ rpc, body }, response) {
    if (rpc !== '/walletrpc.WalletKit/FundPsbt' || !body.includes('custom_lock_id')) return false;
    const message = 'proto: (line 1:2): unknown field "custom_lock_id"';
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code: 3, message, details: [] }));
    return true;
  },
};

const sign = (command: PayOnchainCommand, wallet = node) => onchainOf(wallet).sign(command);
const leased = () => fake.wallet.leasedCoins().map(({ outpoint }) => outpoint);
const onchainSat = async (wallet = node) => (await wallet.info()).onchainBalanceMsat / 1000n;
const pending = ({ index, createdAtMs }: PayOnchainCommand): Payment =>
  blankPayment({
    index,
    rail: 'onchain',
    direction: 'outbound',
    status: 'pending',
    statusMsg: 'pending',
    createdAtMs,
    updatedAtMs: createdAtMs,
  });

describe('the id of the locks for a send', () => {
  const locks = (mark: string) => new CoinLocks(mark, () => 0);
  const of = (id: string, mark = MARK, createdAtMs = 1) =>
    locks(mark).idOf({ index: paymentIndex(createdAtMs, paymentId('os', id)) });
  const [one, other] = ['5e'.repeat(32), '5f'.repeat(32)];

  test('follows from its client_payment_id and the installation alone', () => {
    expect(of(one)).toMatch(/^[0-9a-f]{64}$/);
    expect(of(one)).toBe(of(one, MARK, 2));
    expect(of(one)).not.toBe(of(other));
    expect(of(one)).not.toBe(of(one, 'bb'));
  });

  test('is known as one of this installation', () => {
    expect(locks(MARK).owns(of(one))).toBe(true);
    expect(locks(MARK).owns(of(one, 'bb'))).toBe(false);
    expect(locks(MARK).owns(LND_LOCK_ID)).toBe(false);
  });
});

describe('coins whose locks were lost', () => {
  beforeEach(() => start());

  for (const [when, fault] of [
    ['after LND locked them', CUT_AFTER],
    ['before LND locked them', { kind: 'cut-before' }],
    ['with a page of a proxy', { kind: 'page', status: 502 }],
    ['with an ended call', { kind: 'unavailable' }],
  ] as const) {
    test(`by an answer that was lost ${when} are free at once`, async () => {
      proxy.rules({ ...FUND, fault });
      expect(await throwing(sign(sendCommand(400_000n)))).toThrow();
      expect(proxy.fired).toHaveLength(1);
      expect(leased()).toEqual([]);
      proxy.rules();
      await sign(sendCommand(400_000n));
    });
  }

  test('by a failed release are released by the next look', async () => {
    proxy.rules({ ...FINALIZE, fault: CUT_AFTER }, { ...RELEASE, fault: { kind: 'cut-before' } });
    expect(await throwing(sign(sendCommand(400_000n)))).toThrow();
    expect(leased()).toHaveLength(1);
    proxy.rules();
    feed = follow(node);
    await until(() => leased().length === 0, 'the coins are free');
  });

  test('by a killed process are released by the first look of the next one, and no others', async () => {
    const kept = sendCommand(100_000n);
    const foreign = await walletOnFake(fake, fake, { mark: 'bb' });
    fake.wallet.receive(COIN_SAT);
    fake.wallet.receive(COIN_SAT);
    const [coin] = (await sign(kept)).locks;
    const [coinOfOther] = (await sign(sendCommand(100_000n), foreign)).locks;
    await sign(sendCommand(100_000n));
    expect(leased()).toHaveLength(3);
    feed = follow(await walletOnFake(fake, proxy), null, [pending(kept)]);
    await until(() => leased().length === 2, 'the lost coin is free');
    expect(leased()).toContain(coin?.outpoint ?? '');
    expect(leased()).toContain(coinOfOther?.outpoint ?? '');
  });

  test('by a killed process are free for the repeat of the same send', async () => {
    const command = sendCommand(400_000n);
    await sign(command);
    const { locks } = await sign(command, await walletOnFake(fake, proxy));
    expect(leased()).toEqual(locks.map(({ outpoint }) => outpoint));
  });

  test('are looked for as long as such a lock can last, and not for ever', async () => {
    let nowMs = 0;
    const wallet = await walletOnFake(fake, proxy, { elapsedMs: () => nowMs });
    const asked = () => proxy.seen.filter(({ path }) => path === '/v2/wallet/utxos/leases').length;
    await sign(sendCommand(1_000n), wallet);
    expect(asked()).toBe(1);
    nowMs = 12 * 60_000;
    fake.wallet.receive(COIN_SAT);
    await sign(sendCommand(1_000n), wallet);
    expect(asked()).toBe(1);
  });
});

describe('coins of a send that the store does not show yet', () => {
  const looks = () => proxy.reached.filter((one) => one === 'POST /v2/wallet/utxos/leases').length;
  /** Lets the feed look at LND's locks, and act on what it sees. No block ends the lock of a coin that is spent. */
  async function lookedAt(): Promise<void> {
    for (const look of [1, 2]) {
      const before = looks();
      fake.wallet.receive(1_000n, { confirmed: false });
      await until(() => looks() > before, `the feed has read the locks, ${look} of 2`);
    }
  }
  beforeEach(async () => {
    await start();
    feed = follow(node);
    await until(() => feed?.isCaughtUp() && looks() > 0, 'the feed follows');
  });

  test('stay locked while it is signed and stored', async () => {
    proxy.rules({ ...FINALIZE, fault: { kind: 'delay', ms: 2000 } });
    const signing = sign(sendCommand(400_000n));
    await until(() => proxy.fired.length > 0, 'LND is asked to sign');
    await lookedAt();
    expect(leased()).toHaveLength(1);
    const signed = await signing;
    await lookedAt();
    expect(leased()).toEqual(signed.locks.map(({ outpoint }) => outpoint));
    await onchainOf(node).release(signed);
    expect(leased()).toEqual([]);
  });

  test('are looked for again once it is given up or published', async () => {
    fake.wallet.receive(COIN_SAT);
    const command = sendCommand(400_000n);
    const signed = await sign(command);
    proxy.rules({ ...RELEASE, fault: { kind: 'cut-before' } });
    await onchainOf(node).release(await sign(sendCommand(400_000n)));
    await onchainOf(node).publish(command, { ...signed, locks: [] });
    expect(leased()).toHaveLength(2);
    proxy.rules();
    await lookedAt();
    await until(() => leased().length === 0, 'the coins are free');
  });
});

describe('locked coins', () => {
  beforeEach(() => start());

  test('count in the balance until a transaction spends them', async () => {
    const command = sendCommand(400_000n);
    const signed = await sign(command);
    expect(await onchainSat()).toBe(COIN_SAT);
    expect((await node.info()).onchainTrustedMsat).toBe(COIN_SAT * 1000n);
    await onchainOf(node).publish(command, { ...signed, locks: [] });
    expect(leased()).toHaveLength(1);
    const feeSat = BigInt(signed.feeMsat) / 1000n;
    expect(await onchainSat()).toBe(COIN_SAT - 400_000n - feeSat);
  });

  test('are not counted twice where a coin is locked after the balance was read', async () => {
    await stop();
    let lists = 0;
    const lock = (at: number) =>
      fake.wallet.leases.set(fake.wallet.coins()[at]?.outpoint ?? '', {
        id: 'ee'.repeat(32),
        expiresMs: Date.now() + 60_000,
      });
    await start({
      intercept({ rpc }) {
        if (rpc === '/walletrpc.WalletKit/ListLeases' && lists++ === 0) lock(1);
        return false;
      },
    });
    fake.wallet.receive(COIN_SAT);
    lock(0);
    expect(await onchainSat()).toBe(2n * COIN_SAT);
    expect(lists).toBeGreaterThan(1);
  });

  test('of a published send are released', async () => {
    const command = sendCommand(400_000n);
    const signed = await sign(command);
    await onchainOf(node).publish(command, signed);
    await until(() => leased().length === 0, 'the locks have ended');
  });

  test('and until when they are locked are named where coins do not suffice', async () => {
    await sign(sendCommand(400_000n));
    const [lease] = fake.wallet.leases.values();
    const untilMs = Math.floor((lease?.expiresMs ?? 0) / 1000) * 1000;
    const lacks: (() => Promise<unknown>)[] = [
      () => sign(sendCommand(400_000n)),
      () => onchainOf(node).mostSendable(sendCommand(1n)),
      () => onchainOf(node).estimateFeeMsat(sendCommand(400_000n)),
      async () => node.channels?.openFeeBoundMsat(400_000_000n),
    ];
    for (const lack of lacks) {
      const error: Error = await lack().then(
        () => new Error('nothing was refused'),
        (reason) => reason,
      );
      expect(error.message).toContain('Coins of 1000000 sats are locked at LND');
      expect(error.message).toContain(new Date(untilMs).toISOString());
    }
  });

  test('of others are named where LND keeps coins back, and those of the send itself are not', async () => {
    await stop();
    await start({
      rewrite: (rpc, answer) =>
        rpc === '/lnrpc.Lightning/WalletBalance'
          ? { ...(answer as object), reserved_balance_anchor_chan: '950000' }
          : answer,
    });
    expect(await throwing(sign(sendCommand(400_000n)))).toThrow(/channels: send less\.$/);
    const { outputs, txid } = fake.wallet.receive(50_000n);
    const vout = outputs.findIndex(({ isOurs }) => isOurs);
    const expiresMs = Date.now() + 60_000;
    fake.wallet.leases.set(`${txid}:${vout}`, { id: 'ee'.repeat(32), expiresMs });
    expect(await throwing(sign(sendCommand(400_000n)))).toThrow(
      /keeps 950000 sats back.*Coins of 50000 sats/,
    );
  });
});

describe('on an LND before 0.19', () => {
  test('sends side by side take no coin of each other', async () => {
    await start(OLD_LND, 0n);
    for (let coin = 0; coin < 8; coin++) fake.wallet.receive(COIN_SAT);
    const sends = await Promise.all(Array.from({ length: 8 }, () => sign(sendCommand(400_000n))));
    const coins = sends.flatMap(({ locks }) => locks.map(({ outpoint }) => outpoint));
    expect(new Set(coins).size).toBe(8);
    const choices = fake.received.filter(
      ({ rpc, body }) =>
        rpc === '/walletrpc.WalletKit/FundPsbt' && !body.includes('custom_lock_id'),
    );
    // None was made in vain.
    expect(choices).toHaveLength(8);
    expect(leased().toSorted()).toEqual(coins.toSorted());
  });

  test('a coin that another program takes before it is locked is chosen again', async () => {
    let taken = 0;
    await start({
      intercept(received, response) {
        if (received.rpc === '/walletrpc.WalletKit/LeaseOutput' && taken++ === 0) {
          const [coin] = fake.wallet.coins().toSorted((a, b) => Number(b.valueSat - a.valueSat));
          const expiresMs = Date.now() + 60_000;
          fake.wallet.leases.set(coin?.outpoint ?? '', { id: 'ee'.repeat(32), expiresMs });
        }
        return OLD_LND.intercept?.(received, response) ?? false;
      },
    });
    fake.wallet.receive(COIN_SAT / 2n);
    const { locks } = await sign(sendCommand(100_000n));
    expect(taken).toBeGreaterThan(1);
    expect(leased()).toHaveLength(2);
    expect(locks).toHaveLength(1);
  });

  test('a lost lock is told and logged, and never released by guess', async () => {
    await start(OLD_LND);
    proxy.rules({ ...FUND, nth: 2, fault: CUT_AFTER });
    expect(await throwing(sign(sendCommand(400_000n)))).toThrow(
      /Coins of 1000000 sats are locked at LND, .* until \d{4}-/,
    );
    expect(leased()).toHaveLength(1);
    const lines: string[] = [];
    const log = openLog({ level: 'warn', format: 'text', write: (line) => lines.push(line) });
    feed = follow(node, null, [], { log });
    await until(() => lines.some((line) => line.includes('1000000 sats')), 'the log tells it');
    expect(leased()).toHaveLength(1);
    expect(await onchainSat()).toBe(COIN_SAT);
  });

  test('a lost answer to our own lock leaves no coin locked', async () => {
    await start(OLD_LND);
    const LEASE = { method: 'POST', path: /^\/v2\/wallet\/utxos\/lease$/ } as const;
    proxy.rules({ ...LEASE, fault: CUT_AFTER });
    expect(await throwing(sign(sendCommand(400_000n)))).toThrow();
    expect(proxy.fired.length).toBeGreaterThan(0);
    expect(leased()).toEqual([]);
  });
});
