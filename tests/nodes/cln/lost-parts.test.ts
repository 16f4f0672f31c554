import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { base64urlnopad } from '@scure/base';
import type { Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { sendOutcome } from '../../../src/nodes/cln/follow/outcome.ts';
import { openCln } from '../../../src/nodes/cln/index.ts';
import { payInvoice } from '../../../src/nodes/cln/lightning/payments.ts';
import { LostParts } from '../../../src/nodes/cln/words/lost-parts.ts';
import { type Following, follow, questionOf } from '../../contracts/node/steps.ts';
import { remoteOptions } from '../../support/remote-options.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { bolt11Of, FakeCln, NODE_SECS, refusal } from './fake-cln.ts';
import { begunPayment, feedNow, orderFor, toldBy, USABLE_CHANNEL } from './fake-sends.ts';
import { type FakeWallet, fakeWallet, LABELS, rpcOf } from './fake-wallet.ts';
import { PAID_HASH as HASH, PREIMAGE } from './fake-xpay.ts';

/**
 * Killed at the right moment, lightningd lists a part as pending that no channel has, and that never ends. Such a
 * payment has failed, where it is certain that nobody has its money and nobody gets it (docs/decisions.md 169).
 */

setDefaultTimeout(SLOW_TEST_MS);

const INDEX = paymentIndex(NODE_SECS * 1000 + 123, paymentId('ln', HASH));
const BOLT11 = bolt11Of(HASH, 1000n);
const OWN = { payment_hash: HASH, bolt11: BOLT11, label: LABELS.of(INDEX) };
const FOREIGN = { payment_hash: HASH, bolt11: BOLT11, created_at: NODE_SECS + 5 };
const OTHER = paymentIndex((NODE_SECS + 5) * 1000, paymentId('ln', HASH));
/** How long parts must have been still before each of the two looks. */
const STILL_MS = 5 * 60_000;
const CHANNEL = '0c'.repeat(32);

/** The row that the wallet has of its payment while it is under way. */
const OURS: Payment = begunPayment(NODE_SECS * 1000 + 123, HASH);

type Row = Record<string, unknown>;

let cln: FakeCln;
let wallet: FakeWallet;
/** The height of the chain, the channels that are there, and those that are closed. */
let height: number;
let channels: Row[];
let closed: Row[];
let feed: Following;
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
  height = 100;
  channels = [{ ...USABLE_CHANNEL, htlcs: [] }];
  closed = [];
  const ok = (body: unknown) => Response.json(body, { status: 201 });
  const info = { id: wallet.nodePk, version: 'v26.06.6', network: 'regtest' };
  cln.on('getinfo', () => ok({ ...info, blockheight: height }));
  cln.on('listpeerchannels', () => ok({ channels }));
  cln.on('listclosedchannels', () => ok({ closedchannels: closed }));
  cln.on('listtransactions', () => ok({ transactions: [] }));
  cln.on('listfunds', () => ok({ outputs: [] }));
});
afterEach(() => cln.stop());

/** What a feed that opens now tells of the payments of the hash: each index with its last status. */
async function told(open: readonly Payment[] = [OURS]): Promise<Record<string, string>> {
  feed = await feedNow(cln, wallet, open);
  return toldBy(feed);
}

/** Looks after that time, and that many blocks. */
async function toldAfter(
  ms: number,
  blocks: number,
  open: readonly Payment[] = [OURS],
): Promise<Record<string, string>> {
  wallet.times.elapsedMs += ms;
  height += blocks;
  return told(open);
}

/** Looks as often and as late as it takes to find a payment lost. */
async function toldAtLast(open?: readonly Payment[]): Promise<Record<string, string>> {
  await told(open);
  await toldAfter(STILL_MS, 1, open);
  return toldAfter(STILL_MS, 1, open);
}

function pay({ isRepeat = false } = {}) {
  const rpc = rpcOf(cln);
  const createdAtMs = NODE_SECS * 1000 + 9999;
  return payInvoice(
    { rpc, owner: rpc, wallet },
    orderFor(wallet, BOLT11, { createdAtMs, isRepeat }),
  );
}

const outcome = (createdAtMs: number) =>
  sendOutcome({ owner: rpcOf(cln), wallet }, questionOf(begunPayment(createdAtMs, HASH)));

describe('a part that no channel has', () => {
  test('has failed after two looks that are five minutes and a block apart', async () => {
    cln.addPart(OWN);
    expect(await told()).toEqual({ [INDEX]: 'pending' });
    expect(await toldAfter(STILL_MS - 1, 5)).toEqual({ [INDEX]: 'pending' });
    expect(await toldAfter(1, 0)).toEqual({ [INDEX]: 'pending' });
    expect(await toldAfter(STILL_MS - 1, 5)).toEqual({ [INDEX]: 'pending' });
    expect(await toldAfter(1, 0)).toEqual({ [INDEX]: 'failed' });
    expect(feed.observations.at(-1)?.payment.statusMsg).toBe(
      'lost by the node when it was stopped, which never pays this invoice again',
    );
    expect(wallet.lost.areUncertain).toBe(false);
  });

  test('stays pending while no block has come between', async () => {
    cln.addPart(OWN);
    await told();
    await toldAfter(STILL_MS, 1);
    expect(await toldAfter(STILL_MS, 0)).toEqual({ [INDEX]: 'pending' });
    expect(await toldAfter(59_999, 1)).toEqual({ [INDEX]: 'pending' });
    expect(await toldAfter(1, 0)).toEqual({ [INDEX]: 'failed' });
  });

  test('has failed when another program has made it, too', async () => {
    cln.addPart(FOREIGN);
    expect(await toldAtLast([])).toEqual({ [OTHER]: 'failed' });
  });

  test('has failed with parts beside it that have failed', async () => {
    cln.addPart({ ...OWN, partid: 1, status: 'failed' });
    cln.addPart({ ...OWN, partid: 2 });
    expect(await toldAtLast()).toEqual({ [INDEX]: 'failed' });
  });

  test('is lost for a sidecar that has started again', async () => {
    cln.addPart(OWN);
    await toldAtLast();
    const { lost, ...same } = wallet;
    const again = new LostParts(wallet.elapsedMs, wallet.rows, wallet.userPk);
    expect(again).not.toBe(lost);
    wallet = { ...same, lost: again };
    expect(await told()).toEqual({ [INDEX]: 'failed' });
  });

  test('is looked for without a look for anything else', async () => {
    cln.addPart(OWN);
    await told();
    expect(wallet.lost.dueInMs).toBe(STILL_MS);
    wallet.times.elapsedMs += STILL_MS;
    expect(wallet.lost.due()).toEqual([HASH]);
  });
});

describe('nothing is lost', () => {
  const isPending = async () =>
    expect(await toldAtLast()).toEqual({ [INDEX]: 'pending' }) as unknown;

  test('while a channel has a part of its hash', async () => {
    cln.addPart(OWN);
    channels = [
      { ...USABLE_CHANNEL, htlcs: [{ direction: 'out', amount_msat: 1, payment_hash: HASH }] },
    ];
    await isPending();
    expect(wallet.lost.areUncertain).toBe(false);
    // Gone from the channel, it is over in the list a moment later; the time begins anew.
    channels = [USABLE_CHANNEL].map((one) => ({ ...one, htlcs: [] }));
    expect(await toldAfter(STILL_MS, 1)).toEqual({ [INDEX]: 'pending' });
  });

  test('of what only comes in over a channel', async () => {
    cln.addPart(OWN);
    channels = [
      { ...USABLE_CHANNEL, htlcs: [{ direction: 'in', amount_msat: 1, payment_hash: HASH }] },
    ];
    expect(await toldAtLast()).toEqual({ [INDEX]: 'failed' });
  });

  for (const state of ['AWAITING_UNILATERAL', 'ONCHAIN', 'CHANNELD_SHUTTING_DOWN', 'A_NEW_STATE']) {
    test(`while a channel is in the state ${state}`, async () => {
      cln.addPart(OWN);
      channels = [USABLE_CHANNEL, { ...USABLE_CHANNEL, state }].map((one) => ({
        ...one,
        htlcs: [],
      }));
      await isPending();
      expect(wallet.lost.areUncertain).toBe(true);
      channels = [{ ...USABLE_CHANNEL, htlcs: [] }];
      expect(await toldAfter(3_600_000, 1)).toEqual({ [INDEX]: 'failed' });
      expect(wallet.lost.areUncertain).toBe(false);
    });
  }

  const close = (secs: number, change: Row = {}) =>
    cln.chainmoves.add({
      account_id: CHANNEL,
      primary_tag: 'channel_close',
      timestamp: secs,
      utxo: `${'0f'.repeat(32)}:0`,
      blockheight: 90,
      ...change,
    });
  const funding = { funding_txid: '0f'.repeat(32), funding_outnum: 0 };
  const row = { ...funding, channel_id: CHANNEL, total_htlcs_sent: 1 };
  for (const [why, prepare] of [
    ['was closed after it', () => close(NODE_SECS + 1)],
    ['was closed shortly before it, by clocks that may be wrong', () => close(NODE_SECS - 3600)],
    ['was spliced before it', () => [close(NODE_SECS - 9000), close(NODE_SECS + 1)]],
    ['was closed at a time that nothing tells', () => undefined],
    ['moved other coins before it', () => close(NODE_SECS - 9000, { primary_tag: 'to_wallet' })],
  ] as const) {
    test(`where a channel ${why}`, async () => {
      cln.addPart(OWN);
      closed = [row];
      prepare();
      await isPending();
      expect(wallet.lost.areUncertain).toBe(true);
    });
  }

  test('but where every channel was closed before, or has never sent anything', async () => {
    cln.addPart(OWN);
    closed = [row, { ...row, channel_id: 'ee'.repeat(32), total_htlcs_sent: 0 }];
    close(NODE_SECS - 3601);
    expect(await toldAtLast()).toEqual({ [INDEX]: 'failed' });
  });

  test("of a payment of the node's own invoice, which is in no channel", async () => {
    const { payment_hash } = cln.addInvoice();
    cln.addPart({ ...FOREIGN, payment_hash });
    expect(Object.values(await toldAtLast())).toContain('pending');
    expect(wallet.lost.areUncertain).toBe(true);
  });

  test('while a call of this process pays it', async () => {
    cln.addPart(OWN);
    wallet.endings.begin(HASH);
    await isPending();
  });

  test('after another part has begun meanwhile', async () => {
    cln.addPart({ ...OWN, partid: 1 });
    await told();
    await toldAfter(STILL_MS, 1);
    cln.addPart({ ...OWN, partid: 2 });
    expect(await toldAfter(STILL_MS, 1)).toEqual({ [INDEX]: 'pending' });
  });

  test('when the part ends while it is looked for', async () => {
    const part = cln.addPart(OWN);
    await told();
    await toldAfter(STILL_MS, 1);
    cln.on('listpeerchannels', () => {
      if (part.status === 'pending') {
        cln.endPart(part, { status: 'complete', payment_preimage: PREIMAGE });
      }
      return Response.json({ channels }, { status: 201 });
    });
    expect(await toldAfter(STILL_MS, 1)).toEqual({ [INDEX]: 'completed' });
  });

  for (const method of ['getinfo', 'listpeerchannels', 'listclosedchannels']) {
    test(`where ${method} cannot be read, and the feed goes on`, async () => {
      cln.addPart(OWN);
      cln.on(method, () => refusal(1502, `Not permitted: method ${method}`, 401));
      await isPending();
    });
  }
});

test('health says that a payment may be lost, where that is not certain', async () => {
  const { url, cert } = cln;
  const network = 'regtest' as const;
  const token = base64urlnopad.encode(new TextEncoder().encode(`${'r'.repeat(32)}=1`));
  const entry = { kind: 'cln' as const, url, cert, nodePk: wallet.nodePk, network, token };
  const { clock, elapsedMs, random, rows } = wallet;
  const connector = openCln(remoteOptions([entry], { clock, elapsedMs, random, state: rows }));
  const { node } = await connector.connectConfigured(entry);
  cln.addPart(OWN);
  channels = [{ ...USABLE_CHANNEL, state: 'ONCHAIN', htlcs: [] }];
  for (let look = 0; look < 3; look += 1) {
    const opened = follow(node, null, [OURS], {});
    await until(opened.isCaughtUp, 'the feed has caught up');
    await opened.end();
    const told = expect.stringMatching(/^Core Lightning lists a payment as pending that none of/);
    expect(connector.problems()).toEqual(look < 2 ? [] : [told]);
    wallet.times.elapsedMs += STILL_MS;
    height += 1;
  }
  await connector.close();
});

describe('an invoice of which the node has lost a payment', () => {
  beforeEach(() => {
    cln.addPart(FOREIGN);
  });

  test('is refused, since the node never pays it again', async () => {
    expect(await pay()).toMatchObject({ state: 'taken', payment: { status: 'pending' } });
    await toldAtLast();
    const report = await pay();
    expect(report).toMatchObject({ state: 'refused' });
    expect(String('error' in report && report.error.message)).toMatch(/ask for a new one/);
    expect(cln.of('xpay')).toEqual([]);
  });

  test('ends a payment of it that may have been asked for before', async () => {
    const createdAtMs = NODE_SECS * 1000 + 9999;
    expect(await outcome(createdAtMs)).toEqual({ state: 'unknown' });
    await toldAtLast();
    expect(await pay({ isRepeat: true })).toMatchObject({ state: 'unknown' });
    expect(await outcome(createdAtMs)).toMatchObject({
      state: 'never',
      reason:
        'not sent: the node has lost another payment of this invoice, and never pays it again',
    });
    expect(cln.of('xpay')).toEqual([]);
  });

  test('is paid again once somebody has mended the database of the node', async () => {
    await toldAtLast();
    const [part] = cln.sendpays.rows;
    cln.endPart(part ?? {}, { status: 'failed' });
    await pay();
    expect(cln.of('xpay')).toHaveLength(1);
  });
});
