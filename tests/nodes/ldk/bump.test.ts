import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeAddress } from '../../../src/codecs/address.ts';
import { isApiError } from '../../../src/model/errors.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { shapes } from '../../../src/nodes/ldk/words/words.ts';
import type { BumpFeeCommand, NodeOnchain, WalletNode } from '../../../src/nodes/node.ts';
import { weightOf } from '../../../src/nodes/remote/orders/psbt.ts';
import { follow, randomHex } from '../../contracts/node/steps.ts';
import { CHAIN_SOURCES } from '../../support/esplora-chain.ts';
import { hasLdkHelper, type LdkNetwork, openLdkNetwork } from '../../support/ldk-network.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Satoshis per virtual byte with which the chain of the tests takes a transaction into the next block. */
const RATE = 5;

const WITH_HELPER = describe.skipIf(!hasLdkHelper());

WITH_HELPER.each([...CHAIN_SOURCES])('the fee of a send of an LDK node, on %s', (source) => {
  let network: LdkNetwork;
  let node: WalletNode;
  let onchain: NodeOnchain;

  beforeAll(async () => {
    network = await openLdkNetwork(source);
    ({ node } = await network.connector.connectRoot(network.rootSeed));
    onchain = node.onchain as NodeOnchain;
  });
  afterAll(() => network.close());

  /** Sends to the other node with a low fee. */
  async function send(amountMsat = 20_000_000n) {
    const { address } = await network.outside.call<{ address: string }>(
      'address',
      {},
      shapes().address,
    );
    const createdAtMs = node.clock.now();
    const index = paymentIndex(createdAtMs, paymentId('os', randomHex(32)));
    const command = {
      ...{ index, createdAtMs, amountMsat, address: decodeAddress(address) },
      ...{ priority: 'background' as const, maxFeeMsat: null },
      ...{ personalNote: null, externalId: null },
    };
    const signed = await onchain.sign(command);
    await onchain.publish(command, signed);
    return signed;
  }
  const refused = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.catch((thrown: unknown) => thrown);
    expect(isApiError(error, 'refused')).toBe(true);
    return (error as Error).message;
  };
  const weightIn = async (txid: string) => {
    const raw = await fetch(`${network.chain.url}/tx/${txid}/raw`);
    return weightOf(new Uint8Array(await raw.arrayBuffer()));
  };

  test('a child spends the change, pays for both, and is found by a repeat', async () => {
    const sent = await send();
    const command: BumpFeeCommand = { txid: sent.txid, priority: 'high' };
    const feed = follow(node);
    const before = (await node.info()).onchainBalanceMsat;
    const boundMsat = await onchain.bumpFeeBoundMsat(command);
    const tooMuch = onchain.bumpFee({ ...command, maxFeeMsat: boundMsat - 1n });
    expect(await refused(tooMuch)).toContain('max_fee');
    expect((await node.info()).onchainBalanceMsat).toBe(before);
    expect(await onchain.bumpFee({ ...command, maxFeeMsat: boundMsat })).toEqual({
      feeMsat: boundMsat,
      isNew: true,
    });
    const again = await onchain.bumpFee({ ...command, maxFeeMsat: null });
    expect(again).toEqual({ feeMsat: null, isNew: false });
    expect(before - (await node.info()).onchainBalanceMsat).toBe(boundMsat);
    await network.mine(1);
    const row = await until(
      () => feed.observations.find(({ payment }) => payment.feesMsat === boundMsat),
      'the child has its row',
    );
    await feed.end();
    expect(row.payment).toMatchObject({ direction: 'info', amountMsat: 0n });
    const weight = (await weightIn(sent.txid)) + (await weightIn(row.payment.txid ?? ''));
    const rate = Number(BigInt(sent.feeMsat) + boundMsat) / 1000 / (Number(weight) / 4);
    expect(rate).toBeGreaterThanOrEqual(RATE);
    expect(rate).toBeLessThan(RATE + 0.1);
    expect(await refused(onchain.bumpFeeBoundMsat(command))).toContain('confirmed');
  });
});
