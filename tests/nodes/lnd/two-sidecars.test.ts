import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { blankPayment, type Payment } from '../../../src/model/payment.ts';
import { idOfIndex } from '../../../src/model/payment-index.ts';
import type { PayOnchainCommand, WalletNode } from '../../../src/nodes/node.ts';
import { type Following, follow, known, questionOf } from '../../contracts/node/steps.ts';
import { type FakeLnd, startFakeLnd } from '../../hostile/fake-lnd.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { onchainOf, sendCommand, walletOnFake } from './wallet-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Two sidecars on one LND share no idempotence (docs/decisions.md 153). */

let fake: FakeLnd;
const feeds: Following[] = [];
/** Mined once, before LND reads the list of transactions that it is asked for. */
let blocksBeforeList = 0;
afterEach(async () => {
  for (const feed of feeds.splice(0)) await feed.end().catch(() => undefined);
  await fake.stop();
});

/** A fake with a coin for each of two sidecars, which publishes once so many requests to publish are there. */
async function start(publishes: number): Promise<[WalletNode, WalletNode]> {
  const all = Promise.withResolvers<void>();
  let arrived = 0;
  fake = await startFakeLnd({
    hooks: {
      async intercept({ rpc }) {
        if (rpc === '/lnrpc.Lightning/GetTransactions') {
          fake.wallet.mine(blocksBeforeList);
          blocksBeforeList = 0;
        }
        if (rpc !== '/walletrpc.WalletKit/PublishTransaction') return false;
        if (++arrived === publishes) all.resolve();
        await all.promise;
        return false;
      },
    },
  });
  fake.wallet.receive(1_000_000n);
  return [
    await walletOnFake(fake, fake, { mark: 'aa' }),
    await walletOnFake(fake, fake, { mark: 'bb' }),
  ];
}

const orders = (): [PayOnchainCommand, PayOnchainCommand] => {
  const command = sendCommand(300_000n);
  return [command, sendCommand(300_000n, idOfIndex(command.index).slice('os_'.length))];
};

/** Follows a wallet whose store has the payments that its feed has shown. */
function followed(node: WalletNode, begun: Payment): Following {
  const rows = new Map([[begun.index as string, begun]]);
  const open = async () => {
    // The feed asks before `follow` has returned it.
    await Promise.resolve();
    for (const { payment } of feed.observations) {
      const row = [...rows.values()].find(
        ({ index }) => idOfIndex(index) === idOfIndex(payment.index),
      );
      rows.set(row?.index ?? payment.index, { ...payment, index: row?.index ?? payment.index });
    }
    return [...rows.values()].filter(({ status }) => status === 'pending');
  };
  const feed = follow(node, null, [], { open });
  feeds.push(feed);
  return feed;
}

/** The txid of each outbound payment that the feed has shown, by its id. */
const sendsIn = ({ observations }: Following) =>
  new Map<string, string | null>(
    observations
      .filter(({ payment }) => payment.direction === 'outbound')
      .map(({ payment }) => [idOfIndex(payment.index), payment.txid]),
  );

/** Both sidecars send for one client_payment_id at once. */
async function sentAtOnce() {
  const wallets = await start(2);
  const commands = orders();
  const signed = await Promise.all([
    onchainOf(wallets[0]).sign(commands[0]),
    onchainOf(wallets[1]).sign(commands[1]),
  ]);
  const sent = await Promise.all([
    onchainOf(wallets[0]).publish(commands[0], signed[0]),
    onchainOf(wallets[1]).publish(commands[1], signed[1]),
  ]);
  const rows = sent.map((report) => known(report).payment);
  const txids = rows.map(({ txid }) => txid ?? '');
  expect(new Set(txids).size).toBe(2);
  return { wallets, commands, rows, txids };
}

test.each([0, 1])(
  'keep their own payments where blocks arrive while a look reads them (sidecar %i)',
  async (which) => {
    const { wallets, commands, rows, txids } = await sentAtOnce();
    const feed = followed(wallets[which] as WalletNode, rows[which] as Payment);
    await until(() => feed.isCaughtUp(), 'the feed follows');
    const shows = (isShown: (payment: Payment) => boolean) =>
      until(() => feed.observations.some(({ payment }) => isShown(payment)), 'the feed shows it');
    blocksBeforeList = 7;
    fake.wallet.receive(5_000n, { confirmed: false });
    await shows(({ txid, status }) => txid === txids[which] && status === 'completed');
    const { txid: later } = fake.wallet.receive(5_000n);
    await shows(({ txid }) => txid === later);
    const [own = '', other = ''] = which === 0 ? txids : txids.toReversed();
    expect(sendsIn(feed)).toEqual(
      new Map([
        [idOfIndex(commands[0].index), own],
        [`os_${other}`, other],
      ]),
    );
  },
);

test('that send for one client_payment_id at once list both payments, each its own under that id', async () => {
  const { wallets, commands, rows, txids } = await sentAtOnce();
  const following = [
    followed(wallets[0], rows[0] as Payment),
    followed(wallets[1], rows[1] as Payment),
  ];
  // Alone its label does not say which of them it is; what the store has stays.
  for (const [which, node] of wallets.entries()) {
    const { index } = commands[which] as PayOnchainCommand;
    expect(await node.payment(index)).toBeNull();
    expect(txids).toContain((await node.latestPayment(idOfIndex(index)))?.payment.txid ?? '');
  }
  for (const blocks of [0, 4, 1, 1, 5, 20]) {
    fake.wallet.mine(blocks);
    // What the feed shows of this receipt it has read after the sends.
    const { txid } = fake.wallet.receive(5_000n);
    for (const [which, feed] of following.entries()) {
      const shown = () => feed.observations.some(({ payment }) => payment.txid === txid);
      await until(shown, 'the feed has read the list');
      const [own = '', other = ''] = which === 0 ? txids : txids.toReversed();
      expect(sendsIn(feed)).toEqual(
        new Map([
          [idOfIndex(commands[0].index), own],
          [`os_${other}`, other],
        ]),
      );
    }
  }
  for (const feed of following) {
    await until(
      () =>
        new Set(
          feed.observations
            .filter(
              ({ payment: { direction, status } }) =>
                direction === 'outbound' && status === 'completed',
            )
            .map(({ payment }) => payment.txid),
        ).size === 2,
      'both are completed',
    );
    expect(sendsIn(feed).size).toBe(2);
  }
});

test('the later of two finds what the other sent between its signing and its publishing', async () => {
  const [one, two] = await start(1);
  const [first, second] = orders();
  const signed = await onchainOf(two).sign(second);
  const sent = known(await onchainOf(one).publish(first, await onchainOf(one).sign(first))).payment;
  expect(known(await onchainOf(two).publish(second, signed)).payment).toMatchObject({
    index: second.index,
    txid: sent.txid,
  });
  expect(fake.wallet.list().filter(({ label }) => label !== '')).toHaveLength(1);
  await until(() => fake.wallet.leasedCoins().length === 0, 'the coins of both are free');
});

test("what became of a send is not told by another sidecar's transaction for the same id", async () => {
  const [one, two] = await start(1);
  const [first, second] = orders();
  const signed = await onchainOf(two).sign(second);
  await onchainOf(one).publish(first, await onchainOf(one).sign(first));
  const payment = blankPayment({
    index: second.index,
    rail: 'onchain',
    direction: 'outbound',
    status: 'pending',
    statusMsg: 'pending',
    createdAtMs: second.createdAtMs,
    updatedAtMs: second.createdAtMs,
  });
  expect(await two.sendOutcome(questionOf(payment, { signed }))).toEqual({ state: 'unknown' });
});
