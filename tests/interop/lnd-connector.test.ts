import { expect, setDefaultTimeout, test } from 'bun:test';
import { decodeAddress } from '../../src/codecs/address.ts';
import { isApiError } from '../../src/model/errors.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import { METHODS } from '../../src/nodes/lnd/reads/grants.ts';
import {
  follow,
  invoiceCommand,
  known,
  payCommand,
  questionOf,
  randomHex,
} from '../contracts/node/steps.ts';
import { memoryState } from '../support/memory-state.ts';
import { throwing } from '../support/rejection.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { describeNetwork } from './harness/index.ts';
import { lndSteps } from './harness/lnd-steps.ts';
import { lndNode } from './kinds.ts';
import { openConnector } from './node-world.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

describeNetwork('what the connector does on a real LND alone', (network) => {
  async function alice() {
    const entry = await lndNode(network().alice).entry();
    return openConnector(network(), [entry]).connectConfigured(entry);
  }

  test('a configured macaroon opens its wallet and says what it allows', async () => {
    const owner = await alice();
    expect(owner.grant?.now().permissions).toContain('pay_onchain');
    const info = await owner.node.info();
    expect(info.nodePk).toBe(network().alice.pubkey);
  });

  test('what LND refuses before it records a payment is refused', async () => {
    const owner = await alice();
    const own = await owner.node.createInvoice(invoiceCommand(owner.node));
    const report = await owner.node.payInvoice(payCommand(owner.node, own.invoice));
    expect(report.state === 'refused' && report.error.message).toContain('self-payments');
  });

  test('an invoice that expired long ago by the chain, and is in no list, was never sent', async () => {
    const owner = await alice();
    const { payment } = await owner.node.createInvoice(invoiceCommand(owner.node));
    const outcome = await owner.node.sendOutcome(
      questionOf(
        { ...payment, direction: 'outbound', invoice: OLD_INVOICE, hash: 'ab'.repeat(32) },
        { afterAttempt: 0 },
      ),
    );
    expect(outcome).toEqual({ state: 'never', reason: 'not sent' });
  });

  test('a send that would cost too much leaves no coin locked, and a signed one only until its release', async () => {
    const { node } = await alice();
    if (!node.onchain) throw new Error('no chain');
    const command = sendOf(await lndSteps(network().bob).address(), 70_000_000n);
    const leases = async () => {
      const path = '/v2/wallet/utxos/leases';
      const { alice: lnd } = network();
      return (await lnd.rest<{ locked_utxos: unknown[] }>('POST', path, {})).locked_utxos.length;
    };
    const tooDear = await node.onchain
      .sign({ ...command, maxFeeMsat: 1000n })
      .catch((error) => error);
    expect(isApiError(tooDear, 'refused')).toBe(true);
    expect(await leases()).toBe(0);
    const signed = await node.onchain.sign(command);
    expect(await leases()).toBeGreaterThan(0);
    await node.onchain.renew(signed);
    await node.onchain.release(signed);
    expect(await leases()).toBe(0);
  });

  test('a send whose coins another transaction spent is replaced, and never made after six blocks', async () => {
    const owner = await alice();
    const { onchain } = owner.node;
    if (!onchain) throw new Error('no chain');
    const address = await onchain.nextUnusedAddress('segwit');
    // The whole balance except the fee and the reserve for anchors, so that both sends need the same coins.
    const send = () => sendOf(address, 20_000_000_000n);
    const lost = send();
    const signedLost = await onchain.sign(lost);
    await onchain.release(signedLost);
    const won = send();
    const signedWon = await onchain.sign(won);
    const published = known(await onchain.publish(won, signedWon));
    const rejected = await onchain.publish(lost, signedLost);
    expect(rejected.state).toBe('unknown');
    const question = questionOf(
      { ...published.payment, index: lost.index, txid: null },
      { signed: signedLost },
    );
    const pending = await owner.node.sendOutcome(question);
    expect(pending.state === 'known' && pending.payment.replacement).toBe(signedWon.txid);
    await network().btcd.generate(6);
    await waitUntil('the other one is final', async () => {
      const outcome = await owner.node.sendOutcome(question);
      return outcome.state === 'never' && outcome.reason === 'replaced';
    });
  });

  test('each method asks for the operations by which a macaroon is judged here', async () => {
    const { method_permissions } = await network().alice.rest<{
      method_permissions: Readonly<
        Record<string, { permissions: readonly { entity: string; action: string }[] }>
      >;
    }>('GET', '/v1/macaroon/permissions');
    const asked = Object.fromEntries(
      Object.keys(METHODS).map((method) => [
        method,
        method_permissions[method]?.permissions
          .map(({ entity, action }) => `${entity}:${action}`)
          .toSorted(),
      ]),
    );
    const known = Object.entries<readonly string[]>(METHODS);
    expect(asked).toEqual(
      Object.fromEntries(known.map(([method, needs]) => [method, needs.toSorted()])),
    );
  });

  test('a wallet follows its node to a new place only after the node signed there', async () => {
    const state = memoryState();
    const entry = { ...(await lndNode(network().alice).entry()), nodePk: null, network: null };
    const before = openConnector(network(), [entry], state);
    await (await before.connectConfigured(entry)).node.info();
    const moved = { ...entry, url: entry.url.replace('127.0.0.1', 'localhost') };
    const { macaroon } = await network().alice.rest<{ macaroon: string }>('POST', '/v1/macaroon', {
      permissions: [{ entity: 'info', action: 'read' }],
    });
    const weak = { ...moved, token: macaroon };
    const refusing = openConnector(network(), [weak], state);
    expect(await throwing(refusing.connectConfigured(weak))).toThrow(/message:write/);
    expect(refusing.problems().join()).toContain('message:write');
    const after = openConnector(network(), [moved], state);
    const wallet = await after.connectConfigured(moved);
    expect((await wallet.node.info()).nodePk).toBe(network().alice.pubkey);
    expect(after.problems()).toEqual([]);
  });

  test("another node's place is not taken for the wallet's", async () => {
    const { alice: claimed, bob } = network();
    const entry = { ...(await lndNode(bob).entry()), nodePk: claimed.pubkey };
    const opened = openConnector(network(), [entry]);
    const wallet = await opened.connectConfigured(entry);
    expect(await throwing(wallet.node.info())).toThrow(/node key/);
    expect(opened.problems()).toHaveLength(1);
  });

  test('a spontaneous AMP payment comes with parts whose preimages fit their hashes', async () => {
    const owner = await alice();
    const feed = follow(owner.node);
    const { bob, alice: payee } = network();
    expect(await outsider(bob).sendsAmp(payee, '70000')).toBe('SUCCEEDED');
    const seenAmp = await waitUntil(
      'the feed has the receipt',
      async () =>
        feed.observations.find(({ ampParts }) => ampParts && ampParts.length > 0) ?? false,
    );
    expect(seenAmp.payment).toMatchObject({ status: 'completed', amountMsat: 70_000n });
    for (const { hash, preimage } of seenAmp.ampParts ?? []) {
      expect(
        new Bun.CryptoHasher('sha256').update(Buffer.from(preimage, 'hex')).digest('hex'),
      ).toBe(hash);
    }
    await feed.end();
  });
});

function sendOf(address: string, amountMsat: bigint) {
  const createdAtMs = Date.now();
  return {
    index: paymentIndex(createdAtMs, paymentId('os', randomHex(32))),
    createdAtMs,
    amountMsat,
    personalNote: null,
    externalId: null,
    address: decodeAddress(address),
    priority: 'high' as const,
    maxFeeMsat: null,
  };
}

/** An example of BOLT 11 from 2017, for another network. Only its expiry matters here. */
const OLD_INVOICE =
  'lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql';
