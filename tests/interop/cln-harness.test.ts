import { expect, setDefaultTimeout, test } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { decodeOffer } from '../../src/codecs/bolt12/index.ts';
import { rejection, throwing } from '../support/rejection.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { clnOutsider } from './cln-outsider.ts';
import {
  type ClnNode,
  ClnRpcError,
  describeClnNetwork,
  describeMixedNetwork,
} from './harness/index.ts';
import { leavesNothing } from './leaves-nothing.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

interface Sendpay {
  readonly status: string;
  readonly label?: string;
  readonly amount_msat: number;
  readonly amount_sent_msat: number;
}

interface ListedInvoice {
  readonly status: string;
  readonly amount_received_msat?: number;
  readonly invreq_payer_note?: string;
}

describeClnNetwork('the interop harness on Core Lightning', (network) => {
  /** Pays an invoice of 1,234,567 msat under a label, and compares both sides. */
  async function pay(from: ClnNode, to: ClnNode): Promise<void> {
    const label = crypto.randomUUID();
    const { bolt11, payment_hash } = await to.rpc<{ bolt11: string; payment_hash: string }>(
      'invoice',
      { amount_msat: 1_234_567, label, description: 'harness' },
    );
    const paid = await from.rpc<{ payment_preimage: string; amount_sent_msat: number }>('xpay', {
      invstring: bolt11,
      label,
    });
    expect(hex.encode(sha256(hex.decode(paid.payment_preimage)))).toBe(payment_hash);
    const { payments } = await from.rpc<{ payments: Sendpay[] }>('listsendpays', { payment_hash });
    expect(payments).toMatchObject([
      { status: 'complete', label, amount_msat: 1_234_567, amount_sent_msat: 1_234_567 },
    ]);
    const { invoices } = await to.rpc<{ invoices: ListedInvoice[] }>('listinvoices', { label });
    expect(invoices).toMatchObject([{ status: 'paid', amount_received_msat: 1_234_567 }]);
  }

  test('the very first payment over the new channel succeeds, in both directions', async () => {
    await pay(network().alice, network().bob);
    await pay(network().bob, network().alice);
  });

  test('the id of an offer is what the codec says, whatever the offer holds', async () => {
    const terms = { amount: 'any', description: 'ids' };
    for (const more of [
      {},
      { amount: '21sat', issuer: 'bob' },
      { quantity_max: 3, absolute_expiry: 4_000_000_000 },
    ]) {
      const { bolt12, offer_id } = await network().bob.rpc<{ bolt12: string; offer_id: string }>(
        'offer',
        { ...terms, ...more },
      );
      expect(decodeOffer(bolt12).offerId).toBe(offer_id);
    }
  });

  test('an offer is paid with a note of the payer', async () => {
    const { alice, bob } = network();
    const { bolt12, offer_id } = await bob.rpc<{ bolt12: string; offer_id: string }>('offer', {
      amount: 'any',
      description: 'harness',
    });
    await alice.rpc('xpay', { invstring: bolt12, amount_msat: 21_000, payer_note: 'hello' });
    const { invoices } = await bob.rpc<{
      invoices: (ListedInvoice & { local_offer_id?: string })[];
    }>('listinvoices');
    expect(invoices.find((one) => one.local_offer_id === offer_id)).toMatchObject({
      status: 'paid',
      amount_received_msat: 21_000,
      invreq_payer_note: 'hello',
    });
  });

  test('the outsider pays, sends without an invoice, and holds what it is paid', async () => {
    const { alice, bob } = network();
    const outside = clnOutsider(bob);
    const { bolt11 } = await alice.rpc<{ bolt11: string }>('invoice', {
      amount_msat: 'any',
      label: 'outsider',
      description: 'outsider',
    });
    expect(await outside.pays(bolt11, '2000')).toBe(true);
    expect(await outside.keysends(alice, '3000', 'hi')).toMatch(/^[0-9a-f]{64}$/);
    const { invoices } = await alice.rpc<{ invoices: { description: string }[] }>('listinvoices');
    expect(invoices.map(({ description }) => description)).toContain('keysend: hi');
    for (const settle of [true, false]) {
      const hold = await outside.holds('5000');
      const paying = alice.rpc('xpay', { invstring: hold.invoice, retry_for: 5 }).then(
        () => true,
        () => false,
      );
      await hold.accepted();
      const { payments } = await alice.rpc<{ payments: Sendpay[] }>('listsendpays', {
        payment_hash: hold.hash,
      });
      expect(payments).toMatchObject([{ status: 'pending' }]);
      await (settle ? hold.settle() : hold.cancel());
      expect(await paying).toBe(settle);
    }
  });

  test('clnrest answers the rune of the node, and refuses to answer without one', async () => {
    const { url, certPath, rune, pubkey } = network().alice;
    const call = async (headers: Record<string, string>) => {
      const tls = { ca: await Bun.file(certPath).text() };
      const response = await fetch(`${url}/v1/getinfo`, { method: 'POST', headers, tls });
      return { status: response.status, body: await response.json() };
    };
    expect(await call({ rune })).toMatchObject({ status: 201, body: { id: pubkey } });
    expect(await call({})).toMatchObject({ status: 403, body: { code: 1501 } });
  });

  test('fee rates differ by the number of blocks, and a node says what it refuses', async () => {
    const { perkb } = await network().alice.rpc<{
      perkb: { estimates: { blockcount: number; feerate: number }[] };
    }>('feerates', { style: 'perkb' });
    expect(perkb.estimates.map(({ blockcount, feerate }) => [blockcount, feerate])).toEqual([
      [2, 50_000],
      [6, 12_000],
      [12, 12_000],
      [100, 5_000],
    ]);
    const refused = network().alice.rpc('listfunds', { unknown: 1 });
    expect(await rejection(refused)).toBeInstanceOf(ClnRpcError);
    expect(await rejection(refused)).toMatchObject({ code: -32602 });
  });

  test('coins sent by the miner arrive with a block, and what the node sends is in the mempool', async () => {
    const { bob, btcd } = network();
    const { bech32 } = await bob.rpc<{ bech32: string }>('newaddr', {
      addresstype: 'bech32',
    });
    const received = await btcd.send([{ address: bech32, amountSat: 21_000n }]);
    await btcd.generate(1);
    await waitUntil('bob sees the coins', async () => {
      const { outputs } = await bob.rpc<{ outputs: { txid: string; amount_msat: number }[] }>(
        'listfunds',
      );
      return outputs.find(({ txid }) => txid === received)?.amount_msat === 21_000_000;
    });
    const { txid, tx } = await bob.rpc<{ txid: string; tx: string }>('withdraw', {
      destination: bech32,
      satoshi: 30_000,
    });
    expect(await btcd.mempool()).toEqual([txid]);
    // As Bitcoin Core does, the chain takes a transaction again.
    expect(await bob.rpc('sendrawtransaction', { tx, allowhighfees: false })).toMatchObject({
      success: true,
    });
    await btcd.generate(1);
    const refused = await bob.rpc<{ success: boolean; errmsg: string }>('sendrawtransaction', {
      tx,
      allowhighfees: false,
    });
    expect(refused.success).toBe(false);
    expect(refused.errmsg).toStartWith('error code: -');
  });

  test('a node that stopped or crashed comes back on the same address and pays again', async () => {
    const { alice, bob } = network();
    for (const end of [alice.stop, alice.kill]) {
      await end();
      expect(await throwing(alice.rpc('getinfo'))).toThrow();
      await alice.start();
      await network().channelUsable();
      expect(await alice.rpc('getinfo')).toMatchObject({ id: alice.pubkey });
      await pay(alice, bob);
    }
  });

  test('a node beyond bob is paid over two channels, and bob takes his fee', async () => {
    const carol = await network().addBeyondBob('carol');
    const { bolt11 } = await carol.rpc<{ bolt11: string }>('invoice', {
      amount_msat: 1_000_000,
      label: 'carol',
      description: 'carol',
    });
    const paid = await network().alice.rpc<{ amount_sent_msat: number }>('xpay', {
      invstring: bolt11,
    });
    expect(paid.amount_sent_msat).toBeGreaterThan(1_000_000);
    await carol.stop();
  });

  test('a test run that is killed leaves no process and no folder behind', () =>
    leavesNothing('const { alice } = await startClnNetwork(findClnBinaries()[0]);'));
});

describeMixedNetwork('LND and Core Lightning on one chain', (network) => {
  test('each pays the other', async () => {
    const { lnd, cln } = network();
    const fromLnd = await outsider(lnd).invoice({ value_msat: '50000000' });
    expect(await clnOutsider(cln).pays(fromLnd.invoice)).toBe(true);
    const fromCln = await clnOutsider(cln).invoice({ amount_msat: 60_000_000 });
    expect(await outsider(lnd).pays(fromCln.invoice)).toBe('SUCCEEDED');
  });
});
