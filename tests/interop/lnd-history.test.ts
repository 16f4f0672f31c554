import { expect, setDefaultTimeout, test } from 'bun:test';
import { follow } from '../contracts/node/steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { describeNetwork } from './harness/describe-network.ts';
import type { LndNode } from './harness/lnd.ts';
import { lndNode } from './kinds.ts';
import { openConnector } from './node-world.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

const DAY_MS = 86_400_000;
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

interface Added {
  readonly payment_request: string;
  readonly r_hash: string;
}

describeNetwork('the history of a real LND', (network) => {
  const wallet = async () => {
    const entry = await lndNode(network().alice).entry();
    return (await openConnector(network(), [entry]).connectConfigured(entry)).node;
  };
  const add = async (node: LndNode, expirySecs = 3600) => {
    const body = { value_msat: '1000000', expiry: `${expirySecs}` };
    const { payment_request, r_hash } = await node.rest<Added>('POST', '/v1/invoices', body);
    return { invoice: payment_request, hash: hexOf(Buffer.from(r_hash, 'base64')) };
  };
  /** Pays and returns once LND has said `status`. */
  const pay = async (node: LndNode, invoice: string, status: string) => {
    const body = { payment_request: invoice, timeout_seconds: 60, fee_limit_msat: '10000' };
    for await (const update of node.stream<{ status: string }>('POST', '/v2/router/send', body)) {
      if (update.status === status) return;
    }
    throw new Error(`the payment was never ${status}`);
  };

  test('that is not wanted is not read, but what is not over is, and is followed to its end', async () => {
    const { alice, bob } = network();
    const paid = await add(bob);
    await pay(alice, paid.invoice, 'SUCCEEDED');
    const received = await add(alice);
    await pay(bob, received.invoice, 'SUCCEEDED');
    const held = await outsider(bob).holds('1000000');
    await pay(alice, held.invoice, 'IN_FLIGHT');
    await held.accepted();
    const open = await add(alice);
    const node = await wallet();
    const feed = follow(node, null, [], { historySinceMs: Date.now() + DAY_MS });
    await until(feed.isCaughtUp, 'the feed has caught up');
    await feed.shows(held.hash, 'pending');
    await feed.shows(open.hash, 'pending');
    const hashes = feed.observations.map(({ payment }) => payment.hash);
    expect(hashes).not.toContain(paid.hash);
    expect(hashes).not.toContain(received.hash);
    await held.settle();
    await pay(bob, open.invoice, 'SUCCEEDED');
    await feed.shows(held.hash, 'completed');
    await feed.shows(open.hash, 'completed');
    await feed.end();
    // The cursor stands behind what was left out.
    const again = follow(node, feed.cursor(), []);
    await until(again.isCaughtUp, 'the feed has caught up');
    expect(again.observations.map(({ payment }) => payment.hash)).not.toContain(paid.hash);
    await again.end();
  });

  test('shows an invoice that expires as failed, though LND tells nobody', async () => {
    const { alice } = network();
    const feed = follow(await wallet());
    await until(feed.isCaughtUp, 'the feed has caught up');
    const { hash } = await add(alice, 3);
    const { payment } = await feed.shows(hash, 'failed');
    expect(payment.statusMsg).toBe('expired');
    await feed.end();
  });
});
