import { afterAll, beforeEach, expect, test } from 'bun:test';
import type { RouteHint } from '../../../src/codecs/bolt11/index.ts';
import type { WalletNode } from '../../../src/nodes/node.ts';
import { rejection } from '../../support/rejection.ts';
import { RECORDED, recordedWallet, replay } from './recorded.ts';
import { type Got, refusal, scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
let node: WalletNode;
beforeEach(async () => {
  lnd.reset();
  replay(lnd, 'full');
  node = await recordedWallet(lnd);
});

const own = RECORDED.lists.getinfo.identity_pubkey;
const ESTIMATE = 'POST /v2/router/route/estimatefee';
const [PAYEE = '', FIRST = '', SECOND = ''] = ['02', '03', '04'].map(
  (fill) => `02${fill.repeat(32)}`,
);
const hop = (
  pubkey: string,
  feeBaseMsat: number,
  feeProportionalMillionths: number,
): RouteHint => ({
  pubkey,
  shortChannelId: '00'.repeat(8),
  feeBaseMsat,
  feeProportionalMillionths,
  cltvExpiryDelta: 40,
});
const estimate = (amountMsat: bigint, ...routeHints: RouteHint[][]) =>
  node.estimateRoutingFeeMsat({ nodePk: PAYEE, amountMsat, routeHints });
const asked = () =>
  lnd.requests
    .filter(({ method, path }) => `${method} ${path}` === ESTIMATE)
    .map(({ body }) => [Buffer.from(String(body.dest), 'base64').toString('hex'), body.amt_sat]);
/** Sets fees in LND's graph by node; there is no route to any other. */
const graph = (fees: Readonly<Record<string, string>>) =>
  lnd.on(ESTIMATE, ({ body }: Got) => {
    const fee = fees[Buffer.from(String(body.dest), 'base64').toString('hex')];
    if (fee === undefined) return refusal(500, 2, 'unable to find a path to destination');
    return Response.json({ routing_fee_msat: fee, time_lock_delay: '100', failure_reason: 'NONE' });
  });

test('LND is asked by node and whole satoshis, and never for an invoice, which it would probe', async () => {
  graph({ [PAYEE]: '1234' });
  expect(await estimate(5_001n)).toBe(1234n);
  expect(asked()).toEqual([[PAYEE, '6']]);
  expect(lnd.requests.filter(({ body }) => 'payment_request' in body)).toEqual([]);
});

test('a receiver in the graph needs no private route', async () => {
  graph({ [PAYEE]: '1000', [FIRST]: '1' });
  expect(await estimate(5_000n, [hop(FIRST, 0, 0)])).toBe(1000n);
});

test('a private route adds its fees, from its end to its beginning, to those of the way to it', async () => {
  graph({ [FIRST]: '1000' });
  // The second node passes 1,000,000 on for 2,000 + 10,000; the first passes 1,012,000 on for 1,000 + 20,240.
  const route = [hop(FIRST, 1000, 20_000), hop(SECOND, 2000, 10_000)];
  expect(await estimate(1_000_000n, route)).toBe(1000n + 12_000n + 21_240n);
  expect(asked()[1]).toEqual([FIRST, '1034']);
});

test('the cheapest of three private routes counts, and more are not tried', async () => {
  graph({ [FIRST]: '50', [SECOND]: '10' });
  const dear = [hop(FIRST, 9, 0)];
  expect(await estimate(5_000n, dear, [hop(SECOND, 5, 0)], dear, [hop(SECOND, 1, 0)])).toBe(15n);
  expect(asked()).toHaveLength(4);
});

test("a private route that begins at the wallet's own node costs what follows it", async () => {
  graph({});
  expect(await estimate(5_000n, [hop(own, 7000, 0)])).toBe(0n);
  expect(await estimate(5_000n, [hop(own, 7000, 0), hop(SECOND, 3, 0)])).toBe(3n);
});

test('without a way, for the own node, and where the macaroon may not ask, it is null', async () => {
  graph({});
  expect(await estimate(5_000n, [hop(FIRST, 0, 0)], [])).toBeNull();
  const self = { nodePk: own, amountMsat: 5_000n, routeHints: [] };
  expect(await node.estimateRoutingFeeMsat(self)).toBeNull();
  lnd.on(ESTIMATE, () => refusal(500, 2, 'permission denied'));
  expect(await estimate(5_000n)).toBeNull();
});

test('an answer that cannot be read is an error, as is a negative fee', async () => {
  graph({ [PAYEE]: '-5' });
  expect(await rejection(estimate(5_000n))).toMatchObject({ kind: 'unreadable' });
});
