import { describe, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  decodeInvoice,
  decodeInvoiceRequest,
  decodeOffer,
  encodeOffer,
  merkleRoot,
  verifyInvoice,
} from '../../../../src/codecs/bolt12/index.ts';
import { NETWORKS } from '../../../../src/codecs/network.ts';
import { ApiError } from '../../../../src/model/errors.ts';
import type { Payment } from '../../../../src/model/payment.ts';
import { idOfIndex, paymentId, paymentIndex } from '../../../../src/model/payment-index.ts';
import type { FetchInvoiceCommand, PayFetchedCommand } from '../../../../src/nodes/node.ts';
import { decideHeld } from '../../../../src/nodes/sandbox/lightning/decisions.ts';
import type { Behavior } from '../../../../src/nodes/sandbox/lightning/invoice-rows.ts';
import { paySpontaneously } from '../../../../src/nodes/sandbox/lightning/outside.ts';
import { startFetchedPayment } from '../../../../src/nodes/sandbox/lightning/payments.ts';
import {
  createOffer,
  fetchInvoiceOf,
  proofMaterial,
} from '../../../../src/nodes/sandbox/offers/offers.ts';
import { payOfferFromOutside } from '../../../../src/nodes/sandbox/offers/outside.ts';
import { latestPayment } from '../../../../src/nodes/sandbox/world/payments.ts';
import { walletKeys } from '../../../../src/nodes/sandbox/world/wallets.ts';
import type { World } from '../../../../src/nodes/sandbox/world/world.ts';
import { onchainWorld } from '../../../support/onchain-world.ts';

function setUp() {
  const { world, wallet, reload } = onchainWorld();
  const rich = () => {
    const userPk = wallet();
    paySpontaneously(world, userPk, { amountMsat: 1_000_000_000n, message: null });
    return userPk;
  };
  const walletOffer = (userPk: string, terms: Partial<Parameters<typeof createOffer>[2]> = {}) =>
    createOffer(
      world,
      { userPk, behavior: 'settle' },
      { description: 'Tips', minAmountMsat: null, expiresAtMs: null, externalId: null, ...terms },
    );
  const outsideOffer = (behavior: Behavior) =>
    createOffer(
      world,
      { userPk: null, behavior },
      { description: null, minAmountMsat: null, expiresAtMs: null, externalId: null },
    );
  const order = (offer: string, change: Partial<FetchInvoiceCommand> = {}) => ({
    offer: decodeOffer(offer),
    amountMsat: 25_000_000n,
    message: 'thank you',
    viaName: null,
    ...change,
  });
  /** Fetches the invoice as the wallet. Returns the order to pay it. */
  const fetched = (userPk: string, wish: FetchInvoiceCommand) => {
    const createdAtMs = world.clock.now();
    return {
      index: paymentIndex(createdAtMs, paymentId('fs', randomBytes(32).toString('hex'))),
      createdAtMs,
      personalNote: null,
      externalId: null,
      maxFeeMsat: 1_000_000n,
      invoice: decodeInvoice(fetchInvoiceOf(world, userPk, wish)),
    };
  };
  const pay = (userPk: string, wish: FetchInvoiceCommand) => payThis(userPk, fetched(userPk, wish));
  const payThis = async (userPk: string, command: PayFetchedCommand): Promise<Payment> => {
    const started = startFetchedPayment(world, userPk, command);
    // After the commit the receiver decides.
    world.commit();
    await Promise.resolve();
    return reload(userPk, started);
  };
  return { world, wallet, rich, walletOffer, outsideOffer, order, fetched, pay, payThis, reload };
}

const refusal = (message: string) =>
  expect.objectContaining({ kind: 'refused', message: expect.stringContaining(message) });

describe('createOffer', () => {
  test('is issued by the wallet node on regtest, with what was asked for', () => {
    const { world, wallet, walletOffer } = setUp();
    const alice = wallet();
    const expiresAtMs = world.clock.now() + 60_000;
    const { offer, offerId } = walletOffer(alice, { minAmountMsat: 1_500n, expiresAtMs });
    expect(decodeOffer(offer)).toMatchObject({
      offerId,
      description: 'Tips',
      amountMsat: 1_500n,
      absoluteExpirySecs: expiresAtMs / 1000,
      issuerId: walletKeys(world, alice).nodePk,
      chains: [NETWORKS.regtest.chainHash],
    });
  });

  test('two offers that say the same are two offers', () => {
    const { wallet, walletOffer } = setUp();
    const alice = wallet();
    expect(walletOffer(alice).offerId).not.toBe(walletOffer(alice).offerId);
  });
});

describe('paying an offer', () => {
  test('that a version before issued has the id on both sides that it was issued under', async () => {
    const { world, rich, walletOffer, order, pay } = setUp();
    const [alice, bob] = [rich(), rich()];
    const { offer, offerId } = walletOffer(bob);
    const former = bytesToHex(merkleRoot(decodeOffer(offer).records) ?? new Uint8Array());
    expect(former).not.toBe(offerId);
    world.db.query('UPDATE offers SET offer_id = ? WHERE offer_id = ?').run(former, offerId);
    const sent = await pay(alice, order(offer));
    expect(sent).toMatchObject({ status: 'completed', offerId: former });
    const received = latestPayment(world, bob, paymentId('fr', sent.hash ?? ''));
    expect(received).toMatchObject({ status: 'completed', offerId: former });
  });

  test('between wallets completes on both sides with the same hash, preimage and offer', async () => {
    const { world, rich, walletOffer, order, pay } = setUp();
    const [alice, bob] = [rich(), rich()];
    const { offer, offerId } = walletOffer(bob);
    const sent = await pay(alice, order(offer, { viaName: 'bob-tips@example.com' }));
    expect(sent).toMatchObject({
      rail: 'offer',
      kind: 'offer',
      direction: 'outbound',
      status: 'completed',
      statusMsg: 'completed',
      offerId,
      amountMsat: 25_000_000n,
      feesMsat: 0n,
      message: 'thank you',
      payerName: null,
    });
    expect(sent.index).toMatch(/^\d{19}-fs_/);
    expect(
      createHash('sha256')
        .update(Buffer.from(sent.preimage ?? '', 'hex'))
        .digest('hex'),
    ).toBe(sent.hash ?? '');
    const received = latestPayment(world, bob, paymentId('fr', sent.hash ?? ''));
    expect(received).toMatchObject({
      rail: 'offer',
      direction: 'inbound',
      status: 'completed',
      offerId,
      hash: sent.hash,
      preimage: sent.preimage,
      amountMsat: 25_000_000n,
      message: 'thank you',
      // The name under which the offer was found belongs to the payee.
      payerName: null,
    });
  });

  test('stores the signed invoice request and the signed invoice that answers it', async () => {
    const { world, rich, walletOffer, order, pay } = setUp();
    const sent = await pay(rich(), order(walletOffer(rich()).offer));
    const row = world.db
      .query<{ invoice_request: Uint8Array; invoice: Uint8Array }, [string | null]>(
        'SELECT invoice_request, invoice FROM offer_invoices WHERE payment_hash = ?',
      )
      .get(sent.hash);
    const request = decodeInvoiceRequest(new Uint8Array(row?.invoice_request ?? []));
    const invoice = decodeInvoice(new Uint8Array(row?.invoice ?? []));
    expect(request.payerNote).toBe('thank you');
    expect(() => verifyInvoice(invoice, request)).not.toThrow();
    expect(invoice.paymentHash).toBe(sent.hash ?? '');
  });

  test('every payment asks with keys of its own', async () => {
    const { world, rich, walletOffer, order, pay } = setUp();
    const alice = rich();
    const { offer } = walletOffer(rich());
    const keys = [await pay(alice, order(offer)), await pay(alice, order(offer))].map(({ index }) =>
      bytesToHex(proofMaterial(world, alice, index)?.payerSecretKey ?? new Uint8Array()),
    );
    expect(new Set(keys).size).toBe(2);
  });

  test('happens once for an id: a repeat answers the first payment', async () => {
    const { rich, walletOffer, order, fetched, payThis } = setUp();
    const [alice, bob] = [rich(), rich()];
    const command = fetched(alice, order(walletOffer(bob).offer));
    const first = await payThis(alice, command);
    expect(await payThis(alice, command)).toEqual(first);
    const another = fetched(alice, order(walletOffer(bob).offer));
    expect(await payThis(alice, { ...another, index: command.index })).toEqual(first);
  });

  test.each([
    ['settle', 'completed'],
    ['fail', 'failed'],
    ['hold', 'pending'],
  ] as const)('of the outside world that would %s it is %s', async (behavior, status) => {
    const { rich, outsideOffer, order, pay } = setUp();
    const sent = await pay(rich(), order(outsideOffer(behavior).offer));
    expect(sent).toMatchObject({ status, rail: 'offer' });
    expect(sent.preimage === null).toBe(status !== 'completed');
  });

  test('on a disk that is full when the receiver decides ends once there is room', async () => {
    const { world, rich, outsideOffer, order, fetched, reload } = setUp();
    const alice = rich();
    let refusals = 0;
    const settled = Promise.withResolvers<void>();
    const full: World = {
      ...world,
      async durably(work) {
        if (refusals++ === 0) throw new ApiError('overCapacity', 'The disk is full: free space.');
        const answered = await world.durably(work);
        settled.resolve();
        return answered;
      },
    };
    const command = fetched(alice, order(outsideOffer('settle').offer));
    world.commit();
    const sent = startFetchedPayment(full, alice, command);
    world.commit();
    await Promise.resolve();
    expect(refusals).toBe(1);
    expect(reload(alice, sent).status).toBe('pending');
    await settled.promise;
    expect(reload(alice, sent).status).toBe('completed');
  });

  test.each([
    [true, 'completed'],
    [false, 'failed'],
  ] as const)('that is held ends when decided (settle: %s)', async (settle, status) => {
    const { world, rich, outsideOffer, order, pay, reload } = setUp();
    const alice = rich();
    const sent = await pay(alice, order(outsideOffer('hold').offer));
    decideHeld(world, sent.hash ?? '', settle);
    expect(reload(alice, sent).status).toBe(status);
  });

  test.each([
    ['below its least amount', { minAmountMsat: 30_000_000n }, 'below the 30000000 millisatoshis'],
    ['past its expiry', { expiresAtMs: 1_600_000_000_000 }, 'has expired'],
  ])('%s is refused and leaves nothing behind', (_name, terms, message) => {
    const { world, rich, walletOffer, order } = setUp();
    const alice = rich();
    const wish = order(walletOffer(rich(), terms).offer);
    expect(() => fetchInvoiceOf(world, alice, wish)).toThrow(refusal(message));
    expect(world.db.query('SELECT 1 FROM offer_invoices').all()).toEqual([]);
  });

  test('of its own is refused', () => {
    const { world, rich, walletOffer, order } = setUp();
    const alice = rich();
    const wish = order(walletOffer(alice).offer);
    expect(() => fetchInvoiceOf(world, alice, wish)).toThrow(refusal('is your own'));
  });

  test('of nobody in this world is refused before anything is sent', () => {
    const { world, rich, order } = setUp();
    const issuerId = bytesToHex(secp256k1.getPublicKey(randomBytes(32), true));
    const offer = encodeOffer({ chains: [NETWORKS.regtest.chainHash], issuerId });
    expect(() => fetchInvoiceOf(world, rich(), order(offer))).toThrow(refusal('did not answer'));
  });

  test('without the money is refused and leaves the invoice unpaid, for another payment', async () => {
    const { world, wallet, rich, walletOffer, order, fetched, payThis } = setUp();
    const poor = wallet();
    const command = fetched(poor, order(walletOffer(rich()).offer));
    expect(() => startFetchedPayment(world, poor, command)).toThrow(refusal('can send'));
    expect(latestPayment(world, poor, idOfIndex(command.index))).toBeNull();
    paySpontaneously(world, poor, { amountMsat: 1_000_000_000n, message: null });
    const { index } = fetched(poor, order(walletOffer(rich()).offer));
    expect(await payThis(poor, { ...command, index })).toMatchObject({ status: 'completed' });
  });

  test('an invoice is paid by one payment, of the wallet that fetched it', async () => {
    const { world, rich, outsideOffer, order, fetched, payThis } = setUp();
    const [alice, bob] = [rich(), rich()];
    for (const behavior of ['settle', 'fail', 'hold'] as const) {
      const command = fetched(alice, order(outsideOffer(behavior).offer));
      const { index } = fetched(alice, order(outsideOffer(behavior).offer));
      const stolen = () => startFetchedPayment(world, bob, command);
      expect(stolen).toThrow(refusal('belongs to another payment'));
      await payThis(alice, command);
      const again = () => startFetchedPayment(world, alice, { ...command, index });
      expect(again).toThrow(refusal('belongs to another payment'));
    }
  });

  test('an invoice that has expired is not paid', () => {
    const { world, rich, walletOffer, order, fetched } = setUp();
    const alice = rich();
    const command = fetched(alice, order(walletOffer(rich()).offer));
    world.clock.advance(7_200_000);
    const { invoice } = command;
    expect(Math.floor(world.clock.now() / 1000)).toBe(invoice.expiresAtSecs);
    world.clock.advance(1000);
    expect(() => startFetchedPayment(world, alice, command)).toThrow(refusal('has expired'));
  });
});

describe('payOfferFromOutside', () => {
  test('arrives with the note and the name of the payer', () => {
    const { world, wallet, walletOffer } = setUp();
    const alice = wallet();
    const { offer, offerId } = walletOffer(alice);
    const received = payOfferFromOutside(world, {
      offer: decodeOffer(offer),
      amountMsat: 7_001n,
      message: 'hello',
      payerName: 'Satoshi, at last',
    });
    expect(received).toMatchObject({
      rail: 'offer',
      direction: 'inbound',
      status: 'completed',
      amountMsat: 7_001n,
      offerId,
      message: 'hello',
      payerName: 'Satoshi, at last',
    });
    expect(received.index).toMatch(/^\d{19}-fr_/);
  });

  test('pays the least that the offer asks for when no amount is said', () => {
    const { world, wallet, walletOffer } = setUp();
    const { offer } = walletOffer(wallet(), { minAmountMsat: 5_000n });
    const order = { offer: decodeOffer(offer), amountMsat: null, message: null, payerName: null };
    expect(payOfferFromOutside(world, order).amountMsat).toBe(5_000n);
  });

  test('needs an amount where the offer leaves it open', () => {
    const { world, wallet, walletOffer } = setUp();
    const { offer } = walletOffer(wallet());
    const order = { offer: decodeOffer(offer), amountMsat: null, message: null, payerName: null };
    expect(() => payOfferFromOutside(world, order)).toThrow(
      expect.objectContaining({ kind: 'rejected' }),
    );
  });

  test('does not pay offers that no wallet issued', () => {
    const { world, outsideOffer } = setUp();
    const { offer } = outsideOffer('settle');
    const order = {
      offer: decodeOffer(offer),
      amountMsat: 1_000n,
      message: null,
      payerName: null,
    };
    expect(() => payOfferFromOutside(world, order)).toThrow(
      refusal('No wallet of this sandbox issued that offer'),
    );
  });
});

describe('proofMaterial', () => {
  test('is the invoice, the preimage and the key that signed the request', async () => {
    const { world, rich, walletOffer, order, pay } = setUp();
    const alice = rich();
    const sent = await pay(alice, order(walletOffer(rich()).offer));
    const material = proofMaterial(world, alice, sent.index);
    const invoice = decodeInvoice(material?.invoiceTlv ?? new Uint8Array());
    expect(invoice.paymentHash).toBe(sent.hash ?? '');
    expect(material?.preimage).toBe(sent.preimage ?? '');
    const payerSecretKey = material?.payerSecretKey ?? new Uint8Array();
    expect(bytesToHex(secp256k1.getPublicKey(payerSecretKey, true))).toBe(invoice.payerId);
  });

  test('is nothing for payments that are pending, failed, inbound or of another wallet', async () => {
    const { world, rich, walletOffer, outsideOffer, order, pay } = setUp();
    const [alice, bob] = [rich(), rich()];
    const held = await pay(alice, order(outsideOffer('hold').offer));
    const failed = await pay(alice, order(outsideOffer('fail').offer));
    const sent = await pay(alice, order(walletOffer(bob).offer));
    const received = latestPayment(world, bob, paymentId('fr', sent.hash ?? ''));
    expect(proofMaterial(world, alice, held.index)).toBeNull();
    expect(proofMaterial(world, alice, failed.index)).toBeNull();
    expect(proofMaterial(world, bob, sent.index)).toBeNull();
    expect(received && proofMaterial(world, bob, received.index)).toBeNull();
  });
});
