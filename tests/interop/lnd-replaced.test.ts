import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Transaction } from '@scure/btc-signer';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { caughtUp } from './harness/channels.ts';
import { describeNetwork, type LndNode } from './harness/index.ts';
import { lndSteps } from './harness/lnd-steps.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

describeNetwork('replaced transactions on LND', (network) => {
  let sidecar: NodeSidecar;
  beforeAll(async () => {
    sidecar = await startNodeSidecar(['--client-credentials', await connectLnd(network().alice)]);
    // A feed follows a wallet that has a watch, such as one on an address.
    await sidecar.post('/v2/node/get_next_unused_address');
  });
  afterAll(() => sidecar?.close());

  const newAddress = async (node: LndNode) =>
    (await node.rest<{ address: string }>('GET', '/v1/newaddress?type=0')).address;
  const onchain = async (): Promise<PaymentBody[]> => {
    await sidecar.put('/v2/node/sync_payments');
    const query = { filter: 'all', rail: 'onchain', limit: '1000' };
    return (await sidecar.get('/v2/node/list_payments', query)).payments;
  };
  const ofTx = (txid: string) =>
    waitUntil(
      `a payment of ${txid}`,
      async () => (await onchain()).find((payment) => payment.txid === txid) ?? false,
    );
  const becomes = (index: string, expected: Partial<PaymentBody>) =>
    waitUntil(`${index} is ${JSON.stringify(expected)}`, async () => {
      const payment = (await onchain()).find((one) => one.index === index);
      const fields = Object.entries(expected) as [keyof PaymentBody, unknown][];
      return payment && fields.every(([name, value]) => payment[name] === value) && payment;
    });
  const mine = async (blocks: number) => {
    const hashes = await network().btcd.generate(blocks);
    await caughtUp(network().btcd, [lndSteps(network().alice)]);
    return hashes;
  };

  test('a receipt that its sender takes back names the other transaction in the first block, and fails with the sixth', async () => {
    const { btcd, alice } = network();
    const address = await newAddress(alice);
    const txid = await btcd.send([{ address, amountSat: 100_000n }]);
    const { index } = await ofTx(txid);
    const other = await btcd.replace(txid, []);
    await mine(1);
    await becomes(index, { status: 'pending', replacement: other });
    await mine(4);
    expect(await becomes(index, { status: 'pending' })).toMatchObject({ replacement: other });
    await mine(1);
    expect(await becomes(index, { status: 'failed' })).toMatchObject({
      status_msg: 'replaced',
      replacement: other,
      finalized_at: expect.any(Number),
    });
    await mine(1);
    expect((await ofTx(txid)).status).toBe('failed');
    expect((await onchain()).filter((payment) => payment.txid === txid)).toHaveLength(1);
  });

  test('a replacement that pays the wallet too is a receipt of its own, named before any block has it', async () => {
    const { btcd, alice } = network();
    const address = await newAddress(alice);
    const txid = await btcd.send([{ address, amountSat: 100_000n }]);
    const first = await ofTx(txid);
    const other = await btcd.replace(txid, [{ address, amountSat: 90_000n }]);
    await becomes(first.index, { status: 'pending', replacement: other });
    const second = await ofTx(other);
    expect(second).toMatchObject({ status: 'pending', amount: '90000', replacement: null });
    expect(second.index).not.toBe(first.index);
    await mine(6);
    expect(await becomes(first.index, { status: 'failed' })).toMatchObject({
      status_msg: 'replaced',
      replacement: other,
    });
    await becomes(second.index, { status: 'completed', replacement: null });
  });

  test('a receipt that was replaced while LND and the sidecar were down fails, too', async () => {
    const { btcd, alice } = network();
    const address = await newAddress(alice);
    const txid = await btcd.send([{ address, amountSat: 100_000n }]);
    const { index } = await ofTx(txid);
    await sidecar.kill();
    await alice.stop();
    const other = await btcd.replace(txid, []);
    await btcd.generate(7);
    await alice.start();
    await sidecar.start();
    await becomes(index, { status: 'failed', status_msg: 'replaced', replacement: other });
  });

  test('a receipt that a reorganization brings back has no replacement any more, and completes', async () => {
    const { btcd, alice } = network();
    const address = await newAddress(alice);
    const txid = await btcd.send([{ address, amountSat: 100_000n }]);
    const { index } = await ofTx(txid);
    const other = await btcd.replace(txid, []);
    const [block = ''] = await mine(1);
    await becomes(index, { status: 'pending', replacement: other });
    await btcd.reorganize(block, txid);
    await becomes(index, { status: 'pending', replacement: null });
    await mine(6);
    await becomes(index, { status: 'completed', replacement: null });
  });

  test("LND's fee bump by a child transaction leaves the send as it is, and what the child costs has one row", async () => {
    const { btcd, alice, bob } = network();
    const sent = await sidecar.post('/v2/node/pay_onchain', {
      address: await newAddress(bob),
      amount: '30000',
    });
    const before = (await onchain()).length;
    const output_index = sent.tx.output.findIndex(
      ({ value }: { value: number }) => value !== 30_000,
    );
    const bump = (sat_per_vbyte: string, budget: string) =>
      alice.rest('POST', '/v2/wallet/bumpfee', {
        outpoint: { txid_str: sent.txid, output_index },
        sat_per_vbyte,
        budget,
        immediate: true,
      });
    const children = async (height: number) =>
      (await transactionsOf(alice, height)).filter(({ previous_outpoints }) =>
        previous_outpoints.some(({ outpoint }) => outpoint.startsWith(sent.txid)),
      );
    const mempoolChild = async (not: string) => {
      const mempool = await btcd.mempool();
      const listed = await children(-1);
      return (
        listed.find(({ tx_hash }) => tx_hash !== not && mempool.includes(tx_hash))?.tx_hash ?? false
      );
    };
    await bump('60', '40000');
    const first = await waitUntil('the child is published', () => mempoolChild(''));
    // Its sweeper replaces the child by one with a higher fee.
    await bump('150', '60000');
    await waitUntil('the child is replaced', () => mempoolChild(first));
    expect(await onchain()).toHaveLength(before);

    const miners = await btcd.send([{ address: await newAddress(bob), amountSat: 50_000n }]);
    const [block = ''] = await mine(1);
    const confirmed = async () =>
      (await children(0)).find(({ num_confirmations }) => num_confirmations > 0);
    const child = await confirmed();
    if (child === undefined) throw new Error('no child is in a block');
    expect(child.tx_hash).not.toBe(first);
    const row = await ofTx(child.tx_hash);
    const cost = { direction: 'info', amount: '0', fees: child.total_fees };
    expect(row).toMatchObject({ ...cost, status: 'pending' });
    expect(row.index).toMatch(/-or_[0-9a-f]{64}$/);
    await btcd.reorganize(block, miners);
    await mine(1);
    await becomes(row.index, { status: 'pending', replacement: null });
    await mine(6);
    expect(await becomes(sent.index, { status: 'completed' })).toMatchObject({
      txid: sent.txid,
      replacement: null,
    });
    const standing = await confirmed();
    expect(await becomes(row.index, { status: 'completed' })).toMatchObject({
      txid: standing?.tx_hash,
      fees: standing?.total_fees,
      replacement: null,
    });
    expect(await onchain()).toHaveLength(before + 1);
  });

  for (const label of ['the label of the send', 'no label']) {
    test(`a fee bump by a replacement with ${label} is the same payment with another txid`, async () => {
      const { alice, bob } = network();
      const id = label === 'no label' ? 'd1'.repeat(32) : 'd2'.repeat(32);
      const address = await newAddress(bob);
      const { first, bumped } = await replaceableSend(alice, address, 30_000);
      await publish(alice, first.raw, `ws:${id}`);
      const begun = await ofTx(first.txid);
      expect(begun).toMatchObject({ direction: 'outbound', amount: '30000', status: 'pending' });
      expect(begun.index).toEndWith(`os_${id}`);
      const before = (await onchain()).length;
      await publish(alice, bumped.raw, label === 'no label' ? '' : `ws:${id}`);
      await becomes(begun.index, { txid: bumped.txid, status: 'pending', replacement: null });
      await mine(6);
      expect(await becomes(begun.index, { status: 'completed' })).toMatchObject({
        txid: bumped.txid,
        address,
        replacement: null,
      });
      await mine(1);
      expect(await onchain()).toHaveLength(before);
    });
  }
});

interface PaymentBody {
  readonly index: string;
  readonly txid: string | null;
  readonly status: string;
  readonly status_msg: string;
  readonly direction: string;
  readonly amount: string;
  readonly fees: string;
  readonly address: string | null;
  readonly replacement: string | null;
  readonly finalized_at: number | null;
}

/** The transactions from that height on, and the unconfirmed ones; at -1 these alone. */
async function transactionsOf(node: LndNode, startHeight: number) {
  const { transactions } = await node.rest<{
    transactions: {
      tx_hash: string;
      num_confirmations: number;
      total_fees: string;
      previous_outpoints: { outpoint: string }[];
    }[];
  }>('GET', `/v1/transactions?start_height=${startHeight}&end_height=-1`);
  return transactions;
}

interface Signed {
  readonly txid: string;
  /** Base64. */
  readonly raw: string;
}

const REPLACEABLE = 0xfffffffd;

/** A signed send of an LND that may be replaced (BIP 125), which LND's own are not, and one with a higher fee. */
async function replaceableSend(
  node: LndNode,
  address: string,
  amountSat: number,
): Promise<{ first: Signed; bumped: Signed }> {
  const { funded_psbt, change_output_index } = await node.rest<{
    funded_psbt: string;
    change_output_index: number;
  }>('POST', '/v2/wallet/psbt/fund', {
    raw: { outputs: { [address]: `${amountSat}` } },
    sat_per_vbyte: '2',
    min_confs: 1,
  });
  const psbt = Transaction.fromPSBT(Buffer.from(funded_psbt, 'base64'), {
    allowUnknownOutputs: true,
  });
  for (let i = 0; i < psbt.inputsLength; i++) psbt.updateInput(i, { sequence: REPLACEABLE });
  const sign = async (): Promise<Signed> => {
    const { raw_final_tx: raw } = await node.rest<{ raw_final_tx: string }>(
      'POST',
      '/v2/wallet/psbt/finalize',
      { funded_psbt: Buffer.from(psbt.toPSBT()).toString('base64') },
    );
    const options = { allowUnknownOutputs: true };
    return { raw, txid: Transaction.fromRaw(Buffer.from(raw, 'base64'), options).id };
  };
  const first = await sign();
  const change = psbt.getOutput(change_output_index).amount ?? 0n;
  psbt.updateOutput(change_output_index, { amount: change - 5000n });
  return { first, bumped: await sign() };
}

async function publish(node: LndNode, raw: string, label: string): Promise<void> {
  await node.rest('POST', '/v2/wallet/tx', { tx_hex: raw, label });
}
