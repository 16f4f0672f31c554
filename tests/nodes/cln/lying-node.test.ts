import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { type Bolt11Fields, decodeBolt11, encodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { decodeOffer, encodeOffer, type OfferFields } from '../../../src/codecs/bolt12/index.ts';
import { NETWORKS } from '../../../src/codecs/network.ts';
import { paymentId } from '../../../src/model/payment-index.ts';
import { clnNode } from '../../../src/nodes/cln/node.ts';
import type { NodeTokens } from '../../../src/nodes/node.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { createClient } from '../../../src/wallet/clients/clients.ts';
import { planInvoicePayment } from '../../../src/wallet/pay/invoice.ts';
import { type SendContext, sendAndWait } from '../../../src/wallet/pay/send.ts';
import {
  createOffer,
  issueInvoice,
  nextUnusedAddress,
} from '../../../src/wallet/receive/receive.ts';
import { randomNames } from '../../../src/wallet/session/effect-names.ts';
import { nodeInfo, type Session } from '../../../src/wallet/session/session.ts';
import { sampleDone } from '../../support/sample-payment.ts';
import { WALLET } from '../../support/store-steps.ts';
import { until } from '../../support/until.ts';
import { clientRequest } from '../../wallet/client-world.ts';
import { contextOf } from '../../wallet/pay/plan.ts';
import { type WalletWorld, walletWorld } from '../../wallet/wallet-world.ts';
import { bolt11Of, FakeCln, NODE_SECS } from './fake-cln.ts';
import { fakeWallet, LABELS, rpcOf } from './fake-wallet.ts';

/** The wallet's own facts come before what Core Lightning says (docs/decisions.md 159, 160). */

/** The key with which the fake node signs. */
const KEY = new Uint8Array(32).fill(7);
const NODE_PK = hex.encode(secp256k1.getPublicKey(KEY, true));
const OTHER_PK = hex.encode(secp256k1.getPublicKey(new Uint8Array(32).fill(8), true));
const PREIMAGE = '5e'.repeat(32);
const OTHER_PREIMAGE = '6f'.repeat(32);
const hashOf = (preimage: string) => hex.encode(sha256(hex.decode(preimage)));
const HASH = hashOf(PREIMAGE);
/** An invoice of somebody else. */
const INVOICE = decodeBolt11(bolt11Of(HASH, 1000n, undefined, { key: new Uint8Array(32).fill(8) }));
const ok = (body: unknown) => () => Response.json(body, { status: 201 });

let cln: FakeCln;
let world: WalletWorld;
let owner: Session;
let session: Session;
let clientPk: string;
beforeEach(async () => {
  cln = new FakeCln();
  const wallet = { ...fakeWallet(), nodePk: NODE_PK };
  const rpc = rpcOf(cln);
  world = await walletWorld();
  const { tokens } = world.fake.node;
  Object.assign(
    world.fake.node,
    clnNode({ wallet, rpc, owner: rpc, tokens: tokens as NodeTokens, channelPeer: null }),
  );
  const channel = { peer_id: OTHER_PK, peer_connected: true, state: 'CHANNELD_NORMAL' };
  cln.on('listpeerchannels', ok({ channels: [{ ...channel, spendable_msat: 1_000_000 }] }));
  const started = await world.start();
  owner = started.owner;
  const request = clientRequest(['send'], {
    budget: { amountMsat: 100_000n, period: 'total', maxPaymentMsat: null },
  });
  const made = await createClient(owner, request, randomNames);
  clientPk = made.client.clientPk;
  session = await started.wallets.open(made.credentials);
});
afterEach(async () => {
  await world.close();
  await cln.stop();
});

const spentMsat = async () =>
  (await world.store.budgets.get(WALLET, clientPk, owner.node.clock.now(), periodStart))?.spentMsat;

describe('an outgoing payment', () => {
  const pay = (change: Partial<SendContext> = {}) =>
    sendAndWait(
      contextOf(session, change),
      planInvoicePayment(
        {
          invoice: INVOICE,
          amountMsat: null,
          maxFeeMsat: 100n,
          personalNote: null,
          externalId: null,
          message: null,
        },
        session,
        { ppm: 0, leastMsat: 100n },
      ),
    );
  const row = async () =>
    (await world.store.journal.open(WALLET)).find(({ hash }) => hash === HASH);

  test.each([
    { amount_msat: 0, amount_sent_msat: 0 },
    { amount_msat: 1000, amount_sent_msat: 1 },
    { amount_msat: 1, amount_sent_msat: 1 },
  ])('costs at least its invoice when xpay tells of %o', async (lie) => {
    cln.on('xpay', ok({ payment_preimage: PREIMAGE, successful_parts: 1, ...lie }));
    expect(await pay()).toMatchObject({ status: 'completed', amountMsat: 1000n, feesMsat: 0n });
    expect(await spentMsat()).toBe(1000n);
  });

  /** Pays, and gives up the wait for the end once the answer of xpay, with another preimage, was read. */
  const payForAnother = async () => {
    const amounts = { amount_msat: 1000, amount_sent_msat: 1000 };
    cln.on('xpay', ok({ payment_preimage: OTHER_PREIMAGE, ...amounts, successful_parts: 1 }));
    const read = new AbortController();
    const ended = await pay({ signal: read.signal, onSent: () => read.abort() }).catch(() => null);
    expect(cln.of('xpay')).toHaveLength(1);
    return ended;
  };

  test('is not completed by the preimage of another one in the answer of xpay', async () => {
    expect(await payForAnother()).toBeNull();
    expect(await row()).toMatchObject({ status: 'pending', preimage: null });
    expect(await spentMsat()).toBe(1100n);
  });

  test('is not changed by a row of the list with its label, another hash and its preimage', async () => {
    await payForAnother();
    const own = await row();
    if (own === undefined) throw new Error('no row');
    const otherHash = hashOf(OTHER_PREIMAGE);
    cln.addPart({
      payment_hash: otherHash,
      payment_preimage: OTHER_PREIMAGE,
      status: 'complete',
      label: LABELS.of(own.index),
      completed_at: NODE_SECS,
    });
    const release = owner.feed.hold();
    const other = () => world.store.journal.latest(WALLET, paymentId('ln', otherHash));
    await until(other, 'the list was read');
    release();
    expect(await row()).toMatchObject({ index: own.index, status: 'pending', preimage: null });
  });
});

describe('what it makes for receiving is handed out only if it is what was asked for', () => {
  const order = {
    expirationSecs: 90,
    amountMsat: 5000n,
    description: 'tea',
    descriptionHash: null,
    personalNote: null,
    externalId: null,
    partnerPk: null,
    partnerPropFeePpm: null,
    partnerBaseFeeMsat: null,
  };

  /** Lets the node answer with an invoice of other terms. */
  function lieOfInvoice(change: Partial<Bolt11Fields>, key = KEY): void {
    cln.on('invoice', ({ preimage }) => {
      const bolt11 = encodeBolt11(
        {
          network: 'regtest',
          timestampSecs: NODE_SECS,
          paymentSecret: '11'.repeat(32),
          paymentHash: hashOf(String(preimage)),
          amountMsat: 5000n,
          description: 'tea',
          expirySecs: 90,
          ...change,
        },
        key,
      );
      return ok({ bolt11, expires_at: NODE_SECS + 90 })();
    });
  }

  test.each([
    ['payee', {}, new Uint8Array(32).fill(8)],
    ['network', { network: 'bitcoin' }, KEY],
    ['not the one', { paymentHash: 'aa'.repeat(32) }, KEY],
    ['amount', { amountMsat: 5001n }, KEY],
    ['amount', { amountMsat: null }, KEY],
    ['description', { description: 'coffee' }, KEY],
    ['expiry', { expirySecs: 91 }, KEY],
  ] as const)('an invoice: %s', async (what, lie, key) => {
    lieOfInvoice(lie, key);
    const error = await issueInvoice(owner, order, randomNames).catch((thrown) => thrown);
    expect(error).toMatchObject({ kind: 'unreadable', message: expect.stringMatching(what) });
    expect(await world.store.journal.open(WALLET)).toEqual([]);
    expect(await world.store.watches.has(WALLET)).toBe(false);
    lieOfInvoice({});
    expect((await issueInvoice(owner, order, randomNames)).payment.amountMsat).toBe(5000n);
  });

  test('an offer', async () => {
    const terms = {
      description: 'tea',
      minAmountMsat: 5000n,
      expirationSecs: null,
      externalId: null,
    };
    const honest: OfferFields = {
      chains: [NETWORKS.regtest.chainHash],
      amount: 5000n,
      description: 'tea',
      issuerId: NODE_PK,
    };
    const answer = (fields: OfferFields, offerId?: string) => {
      const bolt12 = encodeOffer(fields);
      cln.on('offer', ok({ bolt12, offer_id: offerId ?? decodeOffer(bolt12).offerId }));
    };
    const create = () => createOffer(owner, terms).catch((thrown) => thrown);
    const lies: Partial<OfferFields>[] = [
      { amount: 1n },
      { description: 'coffee' },
      { issuerId: OTHER_PK },
      { chains: [NETWORKS.bitcoin.chainHash] },
      { absoluteExpirySecs: NODE_SECS },
    ];
    for (const lie of lies) {
      answer({ ...honest, ...lie });
      expect(await create()).toMatchObject({ kind: 'unreadable' });
    }
    answer(honest, 'aa'.repeat(32));
    expect(await create()).toMatchObject({ kind: 'unreadable' });
    expect(await world.store.watches.has(WALLET)).toBe(false);
    answer(honest);
    expect(await create()).toBe(encodeOffer(honest));
  });

  test('the very offer that it made for another external_id (docs/decisions.md 184)', async () => {
    const bolt12 = encodeOffer({
      chains: [NETWORKS.regtest.chainHash],
      description: 'tea',
      issuerId: NODE_PK,
    });
    const { offerId } = decodeOffer(bolt12);
    cln.on('offer', ok({ bolt12, offer_id: offerId }));
    const terms = { description: 'tea', minAmountMsat: null, expirationSecs: null };
    const create = (externalId: string | null) =>
      createOffer(owner, { ...terms, externalId }).catch((thrown) => thrown);
    expect(await create('plan-3')).toBe(bolt12);
    expect(await create('plan-3')).toBe(bolt12);
    for (const other of ['plan-4', null]) {
      expect(await create(other)).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('another description'),
      });
    }
    const payment = sampleDone(1, { direction: 'inbound', rail: 'offer', offerId });
    await owner.feed.observe({ payment, attempt: null }, owner.node);
    expect(await world.store.journal.get(WALLET, payment.index)).toMatchObject({
      externalId: 'plan-3',
    });
    expect(JSON.stringify(cln.asked)).not.toContain('plan-');
  });

  test('an address, which is not kept either', async () => {
    cln.on('listfunds', ok({ outputs: [] }));
    cln.on('newaddr', ok({ bech32: '<script>' }));
    const next = () => nextUnusedAddress(owner, 'segwit').catch((thrown) => thrown);
    expect(await next()).toMatchObject({ kind: 'unreadable' });
    expect(await world.store.watches.has(WALLET)).toBe(false);
    const honest = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
    cln.on('newaddr', ok({ bech32: honest }));
    expect(await next()).toBe(honest);
  });
});

test('a getinfo that claims another key is not believed', async () => {
  cln.on('getinfo', ok({ id: OTHER_PK, version: 'v26.06.6', network: 'regtest', blockheight: 1 }));
  cln.on('listfunds', ok({ outputs: [] }));
  const error = await nodeInfo(owner).catch((thrown) => thrown);
  expect(error).toMatchObject({ kind: 'unreadable' });
  expect(error.message).not.toContain(OTHER_PK);
});
