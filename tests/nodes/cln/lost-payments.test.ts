import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { clnNode } from '../../../src/nodes/cln/node.ts';
import type { NodeTokens } from '../../../src/nodes/node.ts';
import { planInvoicePayment } from '../../../src/wallet/pay/invoice.ts';
import { sendAndWait } from '../../../src/wallet/pay/send.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { rejection } from '../../support/rejection.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { contextOf } from '../../wallet/pay/plan.ts';
import { type WalletWorld, walletWorld } from '../../wallet/wallet-world.ts';
import { bolt11Of, FakeCln } from './fake-cln.ts';
import { listing, USABLE_CHANNEL } from './fake-sends.ts';
import { type FakeWallet, fakeWallet, rpcOf } from './fake-wallet.ts';
import { PAID_HASH as HASH } from './fake-xpay.ts';

/** Who waits for a payment that Core Lightning has lost hears of its end (docs/decisions.md 169). */

setDefaultTimeout(SLOW_TEST_MS);

const STILL_MS = 5 * 60_000;
const BOLT11 = bolt11Of(HASH, 1000n);
const ok = (body: unknown) => () => Response.json(body, { status: 201 });

let cln: FakeCln;
let wallet: FakeWallet;
let world: WalletWorld;
let owner: Session;
let height: number;
beforeEach(async () => {
  cln = new FakeCln();
  wallet = fakeWallet();
  height = 100;
  const info = { id: wallet.nodePk, version: 'v26.06.6', network: 'regtest' };
  cln.on('getinfo', () => Response.json({ ...info, blockheight: height }, { status: 201 }));
  cln.on('listpeerchannels', () => listing([{ ...USABLE_CHANNEL, htlcs: [] }]));
  cln.on('listclosedchannels', ok({ closedchannels: [] }));
  // lightningd is killed right after it has written the part down.
  cln.on('xpay', ({ label }) => {
    cln.addPart({ payment_hash: HASH, bolt11: BOLT11, label });
    return new Response('<html>Bad Gateway</html>', { status: 502 });
  });
  const rpc = rpcOf(cln);
  world = await walletWorld();
  const tokens = world.fake.node.tokens as NodeTokens;
  const node = clnNode({ wallet, rpc, owner: rpc, tokens, channelPeer: null });
  Object.assign(world.fake.node, node);
  ({ owner } = await world.start());
});
afterEach(async () => {
  await world.close();
  await cln.stop();
});

function pay() {
  const order = {
    amountMsat: null,
    maxFeeMsat: 100n,
    personalNote: null,
    externalId: null,
    message: null,
  };
  return sendAndWait(
    contextOf(owner),
    planInvoicePayment({ ...order, invoice: decodeBolt11(BOLT11) }, owner, {
      ppm: 0,
      leastMsat: 100n,
    }),
  );
}

/** Lets the feed look as often and as late as it takes to find a payment lost. */
async function lookAtLast(): Promise<void> {
  await until(() => cln.of('listsendpays').length >= 3, 'the payment is followed');
  for (let look = 0; look < 2; look += 1) {
    const before = cln.of('getinfo').length;
    await until(() => wallet.lost.dueInMs !== Number.POSITIVE_INFINITY, 'the payment is watched');
    height += 1;
    await until(() => {
      // A look that is on its way watches the payment from the time at which it ends.
      wallet.times.elapsedMs += STILL_MS;
      wallet.local.requestLook();
      return cln.of('getinfo').length > before;
    }, 'the channels were looked at');
  }
}

test('a payment of the wallet fails, and paying the invoice again is refused at once', async () => {
  const paying = pay();
  await lookAtLast();
  expect(await paying).toMatchObject({
    status: 'failed',
    statusMsg: 'lost by the node when it was stopped, which never pays this invoice again',
  });
  expect(await rejection(pay())).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('ask for a new one'),
    data: { sent: 'no' },
  });
  expect(cln.of('xpay')).toHaveLength(1);
});

test("who waits for another program's payment is refused once that is lost", async () => {
  cln.addPart({ payment_hash: HASH, bolt11: BOLT11 });
  const paying = pay();
  paying.catch(() => undefined);
  await lookAtLast();
  expect(await rejection(paying)).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('ask for a new one'),
    data: { sent: 'no' },
  });
  expect(cln.of('xpay')).toEqual([]);
});
