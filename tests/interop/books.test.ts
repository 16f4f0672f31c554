import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { commitmentsSettled } from './commitments.ts';
import { caughtUp } from './harness/channels.ts';
import { describeKinds } from './kinds.ts';
import { type NodeSidecar, paymentEnd, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const msat = (amount: string) => Math.round(Number(amount) * 1000);

describeKinds('the books', (network) => {
  let sidecar: NodeSidecar;
  beforeAll(async () => {
    sidecar = await startNodeSidecar(['--client-credentials', await network().alice.connect()]);
  });
  afterAll(() => sidecar?.close());

  /** Reads the books, and checks that their last balance is the node's, and each sum. Returns the last row. */
  async function close(): Promise<Body> {
    const { alice, bob } = network();
    await commitmentsSettled([alice.steps, bob.steps]);
    const answer = await fetch(`${sidecar.baseUrl}/v2/node/export?format=json`);
    const rows: Body[] = (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    let sum = 0;
    for (const { change, balance } of rows) {
      sum += msat(change);
      expect(msat(balance)).toBe(sum);
    }
    const last = rows.at(-1) ?? {};
    expect(last.balance).toBe((await sidecar.get('/v2/node/node_info')).balance);
    return last;
  }

  const difference = ({ kind, change }: Body) => (kind === 'difference' ? msat(change) : 0);
  const mine = async (count: number) => {
    const { alice, bob, btcd } = network();
    await btcd.generate(count);
    await caughtUp(btcd, [alice.steps, bob.steps]);
  };
  /** Waits until the books differ from the node by so much, in millisatoshis, and returns their last row. */
  const until = (differenceMsat: number) =>
    waitUntil(`the books differ by ${differenceMsat} msat`, async () => {
      const last = await close();
      return difference(last) === differenceMsat && last;
    });
  /** What every kind does not do. */
  const where = async (path: string, body: object) => {
    const answer = await sidecar.call('POST', path, { body });
    if (answer.status !== 200) expectError(answer, 'unsupported');
  };
  /** What open channels keep for their closing, in millisatoshis. */
  const heldBack = async (): Promise<number> =>
    (await sidecar.get('/v2/node/list_channels')).channels.reduce(
      (sum: number, one: Body) =>
        sum + msat(one.channel_value) - msat(one.our_balance) - msat(one.their_balance),
      0,
    );

  test('have every payment, keysend, refund, send, fee bump and receipt, so that nothing more is missing', async () => {
    const { bob, alice, btcd } = network();
    await network().channelUsable();
    const atFirst = difference(await close());
    const sold = await sidecar.post('/v2/node/create_invoice', { amount: '20000' });
    expect(await bob.pays(sold.invoice)).toBe(true);
    await paymentEnd(sidecar, sold.index);
    const { invoice } = await bob.invoice({ amountMsat: 3_000_000 });
    await sidecar.post('/v2/node/pay_invoice', { invoice });
    await where('/v2/node/pay_spontaneous', { node_pk: bob.pubkey, amount: '700' });
    const back = await bob.invoice({ amountMsat: 5_000_000 });
    await sidecar.post('/v2/node/pay_invoice', { invoice: back.invoice, refund_of: sold.index });
    expect(await bob.keysends(alice.pubkey, '900000', 'tip')).toBe(true);
    await until(atFirst);
    const { index } = await sidecar.post('/v2/node/pay_onchain', {
      ...{ address: await bob.steps.address(), amount: '30000', priority: 'background' },
    });
    expect((await close()).reason).toMatch(
      /^Payments on their way \(1\) change .* by -3\d{4}(\.\d+)? sats/,
    );
    await where('/v2/node/bump_fee', { index });
    const { address } = await sidecar.post('/v2/node/get_next_unused_address', {});
    await btcd.send([{ address, amountSat: 44_000n }]);
    await mine(6);
    await paymentEnd(sidecar, index);
    await until(atFirst);
  });

  test('have what a channel cost, and say what it holds back and that its close cost something', async () => {
    const { bob } = network();
    const [before, heldBefore] = [difference(await close()), await heldBack()];
    const peer = `${bob.pubkey}@${bob.peerAddress}`;
    const opened = await sidecar.post('/v2/node/open_channel', { value: '600000', peer });
    await mine(6);
    const usable = async () => {
      const { channels } = await sidecar.get('/v2/node/list_channels');
      const { channel_id } = opened;
      return channels.some((one: Body) => one.channel_id === channel_id && one.is_usable);
    };
    await waitUntil('the channel is usable', usable);
    const held = await heldBack();
    const open = await until(before - (held - heldBefore));
    if (held > 0) expect(open.reason).toContain(`Open channels hold back ${held / 1000} sats`);
    await sidecar.post('/v2/node/close_channel', { channel_id: opened.channel_id });
    await mine(6);
    const closed = await waitUntil('its coins are back', async () => {
      const last = await close();
      const costMsat = before - difference(last);
      return costMsat > 0 && costMsat < 20_000_000 && last;
    });
    expect(closed.reason).toContain('Not known why');
  });
});
