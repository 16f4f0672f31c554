import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { hex } from '@scure/base';
import type { Bolt12Invoice } from '../../src/codecs/bolt12/index.ts';
import {
  createPayerProof,
  type PayerProofParts,
  verifyPayerProof,
} from '../../src/codecs/payer-proof/index.ts';
import { type PaymentIndex, paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import type { CreateProofCommand, NodeWholeProofs } from '../../src/nodes/node.ts';
import { createProof, type ProofRequest } from '../../src/wallet/read/proofs.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import {
  makeInvoice,
  makeOffer,
  makeRequest,
  PAYER_KEY,
  PAYMENT_HASH,
  PREIMAGE,
} from '../support/bolt12-fixtures.ts';
import { rejection } from '../support/rejection.ts';
import { sampleDone } from '../support/sample-payment.ts';
import { fits, newSpend, observe, WALLET } from '../support/store-steps.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

const OFFER = makeOffer({ issuer: 'kiosk' });
const INVOICE = makeInvoice(makeRequest(OFFER, { amountMsat: 1000n, payerNote: 'hi' }));
/** Another invoice of the same offer, preimage and payer. */
const ANOTHER = makeInvoice(makeRequest(OFFER, { amountMsat: 1001n, payerNote: 'hi' }));

let world: WalletWorld;
let owner: Session;
let asked: CreateProofCommand[];
/** The node's proof. */
let make: (command: CreateProofCommand) => string;

beforeEach(async () => {
  world = await walletWorld();
  asked = [];
  make = ({ types, note }) => proofOf({ disclose: { types }, ...(note === null ? {} : { note }) });
  const proofs: NodeWholeProofs = {
    kind: 'whole',
    async createProof(command) {
      asked.push(command);
      return make(command);
    },
  };
  Object.assign(world.fake.node, { proofs });
  ({ owner } = await world.start());
});
afterEach(() => world.close());

function proofOf(change: Partial<PayerProofParts>, invoice: Bolt12Invoice = INVOICE): string {
  const disclose = { types: [] };
  return createPayerProof({
    ...{ invoice, preimage: PREIMAGE, payerSecretKey: PAYER_KEY, disclose },
    ...change,
  });
}

/** A payment of the offer that is completed, made here or elsewhere. */
async function paid({ here = true } = {}): Promise<PaymentIndex> {
  const index = paymentIndex(5, paymentId('fs', '17'.repeat(32)));
  const payment = { index, rail: 'offer', hash: PAYMENT_HASH, createdAtMs: 5 } as const;
  if (here) {
    const pending = sampleDone(5, { ...payment, status: 'pending', preimage: null });
    await world.store.spends.begin(
      WALLET,
      newSpend(pending, { fetchedInvoice: INVOICE.text }),
      fits,
    );
  }
  const done = sampleDone(5, { ...payment, preimage: hex.encode(PREIMAGE) });
  await observe(world.store, [done], { journaled: true });
  return index;
}

const prove = async (change: Partial<ProofRequest> = {}) => {
  const index = await paid();
  return createProof(owner, {
    ...{ index, types: [10, 18, 170], additionalTypes: [], note: 'order 17' },
    ...change,
  });
};

describe('a proof that only the node can make', () => {
  test('is asked for with the stored invoice, and shows what was asked for', async () => {
    const proof = verifyPayerProof(await prove({ types: [10, 20, 89], additionalTypes: [22] }));
    expect(asked.map(({ invoice }) => invoice.text)).toEqual([INVOICE.text]);
    // The invoice has no field 20.
    expect(asked[0]).toMatchObject({ types: [10, 89, 22], note: 'order 17' });
    expect(proof.disclosedTypes).toEqual([10n, 22n, 88n, 89n, 168n, 176n]);
    expect(proof).toMatchObject({ note: 'order 17', payerNote: 'hi', amountMsat: null });
  });

  test('is error 110 in words where it lacks what was asked for', async () => {
    make = () => proofOf({ disclose: { types: [10, 170] }, note: 'order 17' });
    expect(await rejection(prove())).toMatchObject({
      kind: 'unsupported',
      message: expect.stringContaining('does not show type 18'),
      data: { node: 'sandbox' },
    });
  });

  test('is error 110 in words where it shows more', async () => {
    make = () => proofOf({ disclose: { types: [10, 18, 170, 164, 22] }, note: 'order 17' });
    expect(await rejection(prove())).toMatchObject({
      kind: 'unsupported',
      message: expect.stringContaining('also show type 22, 164'),
    });
  });

  test('is error 110 where it holds another note', async () => {
    make = ({ types }) => proofOf({ disclose: { types } });
    expect(await rejection(prove())).toMatchObject({
      kind: 'unsupported',
      message: expect.stringContaining('another note'),
    });
  });

  test.each([
    ['is no proof', () => 'lnp1qqqq', 'not valid'],
    [
      'is of another invoice of the offer',
      ({ types, note }: CreateProofCommand) =>
        proofOf({ disclose: { types }, note: note ?? '' }, ANOTHER),
      'another payment',
    ],
  ])('is error 5 where it %s', async (_what, made, message) => {
    make = made;
    expect(await rejection(prove())).toMatchObject({
      kind: 'unreadable',
      message: expect.stringContaining(message),
    });
  });

  test.each([0, 240, 7])(
    'is not asked for with type %d, which no proof of it can show',
    async (type) => {
      const shown = prove({ additionalTypes: [type] });
      expect(await rejection(shown)).toMatchObject({ kind: 'rejected' });
      expect(asked).toEqual([]);
    },
  );

  test('is refused in words for a payment whose invoice was not fetched here', async () => {
    const index = await paid({ here: false });
    const request = { index, types: [], additionalTypes: [], note: null };
    expect(await rejection(createProof(owner, request))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('not stored here'),
    });
    expect(asked).toEqual([]);
  });

  test('is refused for other payments, and not found for none', async () => {
    const index = paymentIndex(6, paymentId('fs', '18'.repeat(32)));
    const request = { index, types: [], additionalTypes: [], note: null };
    expect(await rejection(createProof(owner, request))).toMatchObject({ kind: 'notFound' });
    const invoice = sampleDone(7);
    await observe(world.store, [invoice], { journaled: true });
    expect(await rejection(createProof(owner, { ...request, index: invoice.index }))).toMatchObject(
      {
        kind: 'refused',
      },
    );
  });
});
