import { expect, setDefaultTimeout, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { decodeAddress } from '../../src/codecs/address.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Permission } from '../../src/model/clients/permissions.ts';
import type { NodeCredentials } from '../../src/model/credentials.ts';
import { isApiError } from '../../src/model/errors.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import { openLnd } from '../../src/nodes/lnd/index.ts';
import { METHODS } from '../../src/nodes/lnd/reads/grants.ts';
import {
  ended,
  follow,
  invoiceCommand,
  known,
  lightningId,
  payCommand,
  questionOf,
  randomHex,
} from '../contracts/node/steps.ts';
import { memoryState } from '../support/memory-state.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { describeNetwork } from './harness/describe-network.ts';
import type { LndNode } from './harness/lnd.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));

describeNetwork('the connector on a real LND', (network) => {
  const entryOf = async (node: LndNode, change: Partial<NodeCredentials> = {}) => ({
    kind: 'lnd' as const,
    url: node.restUrl,
    cert: await readFile(node.tlsCertPath, 'utf8'),
    nodePk: node.pubkey,
    network: 'regtest' as const,
    token: (await readFile(node.macaroonPath)).toString('hex'),
    ...change,
  });

  async function connector(entries: readonly NodeCredentials[], state = memoryState()) {
    const { bob } = network();
    return openLnd({
      state,
      clock: systemClock,
      random,
      root: null,
      entries,
      proxy: null,
      channelPeer: { pubkey: bob.pubkey, host: bob.peerAddress },
      mark: 'aa'.repeat(16),
    });
  }

  async function alice() {
    const entry = await entryOf(network().alice);
    const opened = await connector([entry]);
    return { opened, owner: await opened.connectConfigured(entry) };
  }

  const bobsInvoice = () => outsider(network().bob).invoice({ value_msat: '1000000' });

  test('a configured macaroon opens its wallet and says what it allows', async () => {
    const { owner } = await alice();
    expect(owner.grant?.now().permissions).toContain('pay_onchain');
    const info = await owner.node.info();
    expect(info.nodePk).toBe(network().alice.pubkey);
  });

  test('an invoice with a preimage is one invoice, however often it is created', async () => {
    const { opened, owner } = await alice();
    const tokens = owner.node.tokens;
    if (!tokens) throw new Error('no tokens');
    const id = tokens.newId();
    const token = await tokens.issue({ id, permissions: ['create_invoice'], expiresAtMs: null });
    const client = await opened.connectClient(owner.userPk, () => ({ id, token }));
    const preimage = randomHex(32);
    const first = await client.node.createInvoice(invoiceCommand(client.node, { preimage }));
    const second = await client.node.createInvoice(invoiceCommand(client.node, { preimage }));
    expect(second.invoice).toBe(first.invoice);
    expect(second.paymentSecret).toBe(first.paymentSecret);
  });

  test('LND itself refuses a client what its grant does not hold, and everything once it is revoked', async () => {
    const { opened, owner } = await alice();
    const tokens = owner.node.tokens;
    if (!tokens) throw new Error('no tokens');
    const permissions: Permission[] = ['create_invoice', 'create_client', 'list_clients'];
    const id = tokens.newId();
    const token = await tokens.issue({ id, permissions, expiresAtMs: null });
    expect(await tokens.list()).toContain(id);
    const client = await opened.connectClient(owner.userPk, () => ({ id, token }));
    const { invoice } = await bobsInvoice();
    const report = await client.node.payInvoice(payCommand(client.node, invoice));
    expect(report.state === 'refused' && report.error.kind).toBe('forbidden');
    const bake = await network()
      .alice.rest<unknown>(
        'POST',
        '/v1/macaroon',
        { permissions: [{ entity: 'info', action: 'read' }] },
        { macaroonHex: token },
      )
      .catch((error: Error) => error.message);
    expect(String(bake)).toContain('permission denied');
    await tokens.revoke(id);
    await tokens.revoke(id);
    expect(await tokens.list()).not.toContain(id);
    const ended = await client.node
      .createInvoice(invoiceCommand(client.node))
      .catch((error) => error);
    expect(isApiError(ended, 'unauthenticated')).toBe(true);
  });

  test('a token ends at its time', async () => {
    const { opened, owner } = await alice();
    const id = owner.node.tokens?.newId() ?? '';
    const token = await owner.node.tokens?.issue({
      id,
      permissions: ['create_invoice'],
      expiresAtMs: Date.now() - 1000,
    });
    const client = await opened.connectClient(owner.userPk, () => ({ id, token: token ?? '' }));
    const ended = await client.node
      .createInvoice(invoiceCommand(client.node))
      .catch((error) => error);
    expect(isApiError(ended, 'unauthenticated')).toBe(true);
  });

  test('a payment is known by its attempt, and paying the hash again reports that attempt', async () => {
    const { owner } = await alice();
    const { node } = owner;
    const { invoice, hash } = await bobsInvoice();
    const afterAttempt = await node.newestAttempt(lightningId(hash));
    expect(afterAttempt).toBe(0);
    const command = payCommand(node, invoice);
    const report = await node.payInvoice(command);
    expect(report.state).toBe('known');
    const attempt = report.state === 'known' ? report.attempt : null;
    expect(attempt).toBeGreaterThan(afterAttempt ?? 0);
    const done = await ended(node, hash);
    expect(done.payment.status).toBe('completed');
    expect(done.attempt).toBe(attempt);
    const again = await node.payInvoice(command);
    expect(again).toMatchObject({ state: 'taken', attempt });
    const repeated = await node.payInvoice({ ...command, isRepeat: true });
    expect(repeated).toMatchObject({ state: 'known', attempt, payment: { index: command.index } });
    const own = { ...done.payment, index: command.index };
    const outcome = await node.sendOutcome(questionOf(own, { afterAttempt }));
    expect(outcome.state === 'known' && outcome.payment.status).toBe('completed');
    expect(await node.newestAttempt(lightningId(hash))).toBe(attempt);
    const later = await node.sendOutcome(questionOf(own, { afterAttempt: attempt }));
    // LND makes no other attempt of a hash that was paid.
    expect(later).toMatchObject({ state: 'taken', attempt });
  });

  test('a failed payment that is tried again is another attempt, with a greater number', async () => {
    const { owner } = await alice();
    const { invoice, hash } = await bobsInvoice();
    await outsider(network().bob).cancel(hash);
    const command = payCommand(owner.node, invoice);
    const attempts: (number | null)[] = [];
    for (let round = 0; round < 2; round += 1) {
      const report = await owner.node.payInvoice(command);
      attempts.push(report.state === 'known' ? report.attempt : null);
      expect((await ended(owner.node, hash)).payment.status).toBe('failed');
    }
    const [first = null, second = null] = attempts;
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThan(first ?? 0);
    const { payment } = await ended(owner.node, hash);
    const question = questionOf({ ...payment, index: command.index }, { afterAttempt: first });
    const outcome = await owner.node.sendOutcome(question);
    expect(outcome.state === 'known' && outcome.attempt).toBe(second);
  });

  test('what LND refuses before it records a payment is refused', async () => {
    const { owner } = await alice();
    const own = await owner.node.createInvoice(invoiceCommand(owner.node));
    const report = await owner.node.payInvoice(payCommand(owner.node, own.invoice));
    expect(report.state === 'refused' && report.error.message).toContain('self-payments');
  });

  test('an invoice that expired long ago by the chain, and is in no list, was never sent', async () => {
    const { owner } = await alice();
    const { payment } = await owner.node.createInvoice(invoiceCommand(owner.node));
    const outcome = await owner.node.sendOutcome(
      questionOf(
        { ...payment, direction: 'outbound', invoice: OLD_INVOICE, hash: 'ab'.repeat(32) },
        { afterAttempt: 0 },
      ),
    );
    expect(outcome).toEqual({ state: 'never', reason: 'not sent' });
  });

  test('a send on chain is signed within its cap, published, and published again without harm', async () => {
    const { owner } = await alice();
    const { onchain } = owner.node;
    if (!onchain) throw new Error('no chain');
    const { address } = await network().bob.rest<{ address: string }>(
      'GET',
      '/v1/newaddress?type=4',
    );
    const command = {
      index: paymentIndex(Date.now(), paymentId('os', randomHex(32))),
      createdAtMs: Date.now(),
      amountMsat: 70_000_000n,
      personalNote: null,
      externalId: null,
      address: decodeAddress(address),
      priority: 'normal' as const,
      maxFeeMsat: 1000n,
    };
    const leases = async () =>
      (
        await network().alice.rest<{ locked_utxos: unknown[] }>(
          'POST',
          '/v2/wallet/utxos/leases',
          {},
        )
      ).locked_utxos.length;
    const tooDear = await onchain.sign(command).catch((error) => error);
    expect(isApiError(tooDear, 'refused')).toBe(true);
    expect(await leases()).toBe(0);
    const estimate = await onchain.estimateFeeMsat(command);
    const allowed = { ...command, maxFeeMsat: null };
    const signed = await onchain.sign(allowed);
    expect(BigInt(signed.feeMsat)).toBeLessThanOrEqual(estimate * 2n);
    expect(await leases()).toBeGreaterThan(0);
    await onchain.renew(signed);
    await onchain.release(signed);
    await onchain.release(signed);
    expect(await leases()).toBe(0);
    const first = known(await onchain.publish(allowed, signed));
    const question = questionOf(first.payment, { signed });
    expect(first.payment.txid).toBe(signed.txid);
    const second = await onchain.publish(allowed, signed);
    expect(second.state).toBe('known');
    expect((await owner.node.sendOutcome(question)).state).toBe('known');
    await network().btcd.generate(6);
    const third = await waitUntil('the send is final', async () => {
      const outcome = await owner.node.sendOutcome(question);
      return outcome.state === 'known' && outcome.payment.status === 'completed' && outcome;
    });
    expect(third.payment.feesMsat).toBe(BigInt(signed.feeMsat));
    expect(third.payment.amountMsat).toBe(70_000_000n);
    const fourth = await onchain.publish(allowed, signed);
    expect(fourth.state).toBe('known');
  });

  test('a send whose coins another transaction spent is replaced, and never made after six blocks', async () => {
    const { owner } = await alice();
    const { onchain } = owner.node;
    if (!onchain) throw new Error('no chain');
    const address = await onchain.nextUnusedAddress('segwit');
    const send = () => ({
      index: paymentIndex(Date.now(), paymentId('os', randomHex(32))),
      createdAtMs: Date.now(),
      // The whole balance except the fee and the reserve for anchors, so that both sends need the same coins.
      amountMsat: 20_000_000_000n,
      personalNote: null,
      externalId: null,
      address: decodeAddress(address),
      priority: 'high' as const,
      maxFeeMsat: null,
    });
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

  test('a channel costs no more to open and close than was said, and is opened once', async () => {
    const { owner } = await alice();
    const { channels } = owner.node;
    if (!channels) throw new Error('no channels');
    const userChannelId = randomHex(16);
    const boundMsat = await channels.openFeeBoundMsat(1_000_000_000n);
    const command = {
      ...{ valueMsat: 1_000_000_000n, userChannelId, peer: null },
      maxFeeMsat: boundMsat - 1000n,
    };
    const tooDear = await channels.openChannel(command).catch((error) => error);
    expect(isApiError(tooDear, 'refused')).toBe(true);
    const before = await owner.node.info();
    const opened = await channels.openChannel({ ...command, maxFeeMsat: boundMsat });
    const again = await channels.openChannel({ ...command, maxFeeMsat: 0n });
    expect(again.channelId).toBe(opened.channelId);
    const after = await owner.node.info();
    const costMsat = before.onchainBalanceMsat - after.onchainBalanceMsat - 1_000_000_000n;
    expect(costMsat).toBeGreaterThan(0n);
    expect(costMsat).toBeLessThanOrEqual(boundMsat);
    await network().btcd.generate(6);
    await waitUntil('the channel is open', async () =>
      (await channels.listChannels()).some(
        ({ channelId, isUsable }) => channelId === opened.channelId && isUsable,
      ),
    );
    const closeMsat = await channels.closeFeeBoundMsat(opened.channelId, { forced: false });
    const refusal = await channels
      .closeChannel(opened.channelId, { forced: false, maxFeeMsat: closeMsat - 1n })
      .catch((error) => error);
    expect(isApiError(refusal, 'refused')).toBe(true);
    const close = () =>
      channels.closeChannel(opened.channelId, { forced: false, maxFeeMsat: closeMsat });
    expect(await close()).toMatchObject({ isNew: true });
    expect(await close()).toMatchObject({ isNew: false });
    await network().btcd.generate(6);
    const settled = await waitUntil('the balance came back', async () => {
      const { onchainBalanceMsat } = await owner.node.info();
      return onchainBalanceMsat > after.onchainBalanceMsat + 900_000_000n && onchainBalanceMsat;
    });
    expect(after.onchainBalanceMsat + 1_000_000_000n - settled).toBeLessThanOrEqual(closeMsat);
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
    const entry = await entryOf(network().alice, { nodePk: null, network: null });
    const before = await connector([entry], state);
    await (await before.connectConfigured(entry)).node.info();
    const moved = { ...entry, url: entry.url.replace('127.0.0.1', 'localhost') };
    const { macaroon } = await network().alice.rest<{ macaroon: string }>('POST', '/v1/macaroon', {
      permissions: [{ entity: 'info', action: 'read' }],
    });
    const weak = { ...moved, token: macaroon };
    const refusing = await connector([weak], state);
    await expect(refusing.connectConfigured(weak)).rejects.toThrow(/message:write/);
    expect(refusing.problems().join()).toContain('message:write');
    const after = await connector([moved], state);
    const wallet = await after.connectConfigured(moved);
    expect((await wallet.node.info()).nodePk).toBe(network().alice.pubkey);
    expect(after.problems()).toEqual([]);
  });

  test("another node's place is not taken for the wallet's", async () => {
    const entry = await entryOf(network().bob, { nodePk: network().alice.pubkey });
    const opened = await connector([entry]);
    const wallet = await opened.connectConfigured(entry);
    await expect(wallet.node.info()).rejects.toThrow(/node key/);
    expect(opened.problems()).toHaveLength(1);
  });

  test('a spontaneous AMP payment comes with parts whose preimages fit their hashes', async () => {
    const { owner } = await alice();
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

  test('the feed gives each change with its attempt', async () => {
    const { owner } = await alice();
    const feed = follow(owner.node);
    const { invoice, hash } = await bobsInvoice();
    await owner.node.payInvoice(payCommand(owner.node, invoice));
    expect((await feed.shows(hash, 'completed')).attempt).not.toBeNull();
    await feed.end();
  });
});

/** An example of BOLT 11 from 2017, for another network. Only its expiry matters here. */
const OLD_INVOICE =
  'lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql';
