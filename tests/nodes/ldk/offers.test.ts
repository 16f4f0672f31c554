import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeOffer } from '../../../src/codecs/bolt12/index.ts';
import { isApiError } from '../../../src/model/errors.ts';
import { isFinal, type Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import type {
  NodeWholeOffers,
  PayOfferCommand,
  SendReport,
  WalletNode,
} from '../../../src/nodes/node.ts';
import { shownPayment } from '../../../src/nodes/shown-payment.ts';
import { follow, questionOf, randomHex } from '../../contracts/node/steps.ts';
import { hasLdkHelper, type LdkNetwork, openLdkNetwork } from '../../support/ldk-network.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

describe.skipIf(!hasLdkHelper())('offers of an LDK node', () => {
  let network: LdkNetwork;
  let node: WalletNode;
  let offers: NodeWholeOffers;

  beforeAll(async () => {
    network = await openLdkNetwork();
    ({ node } = await network.connector.connectRoot(network.rootSeed));
    offers = node.offers as NodeWholeOffers;
  });
  afterAll(() => network.close());

  async function order(change: Partial<PayOfferCommand> = {}): Promise<PayOfferCommand> {
    const createdAtMs = node.clock.now();
    const index = paymentIndex(createdAtMs, paymentId('fs', randomHex(32)));
    const offer = decodeOffer(await network.outside.offer({ amountMsat: null }));
    const terms = { offer, amountMsat: 3_000_000n, maxFeeMsat: 100_000n, message: null };
    return { index, createdAtMs, personalNote: null, externalId: null, ...terms, ...change };
  }
  /** The payment as the wallet records it before the node is asked. */
  const recorded = ({ index, createdAtMs, amountMsat }: PayOfferCommand): Payment =>
    shownPayment({ index, createdAtMs, amountMsat, rail: 'offer', direction: 'outbound' });
  const outcome = (command: PayOfferCommand) =>
    node.sendOutcome(questionOf(recorded(command), { afterAttempt: 0 }));
  const ended = (command: PayOfferCommand) =>
    until(async () => {
      const found = await outcome(command);
      return found.state === 'known' && isFinal(found.payment) && found.payment;
    }, 'the payment is over');

  test('what arrives on an offer names it, with its description and the message of the payer', async () => {
    const terms = { description: 'for tea', minAmountMsat: 2000n, expiresAtMs: null };
    const { offer, offerId } = await offers.createOffer({ ...terms, externalId: null });
    const feed = follow(node);
    const { ref } = await network.outside.paysOffer(offer, 2_500n, 'two cups');
    const seen = await until(
      () => feed.observations.find(({ payment }) => payment.offerId === offerId),
      'the feed shows it',
    );
    await feed.end();
    expect(ref).not.toBeNull();
    expect(seen.payment).toMatchObject({
      ...{ rail: 'offer', direction: 'inbound', status: 'completed', amountMsat: 2_500n },
      ...{ message: 'two cups', description: 'for tea' },
    });
    const { index } = seen.payment;
    expect(index).toContain(`-fr_${seen.payment.hash}`);
    expect((await node.payment(index))?.payment).toEqual(seen.payment);
  });

  test('two offers of the same terms are two offers, and one that has expired is none', async () => {
    const terms = { description: 'tea', minAmountMsat: null, externalId: null };
    const [one, other] = await Promise.all(
      [1, 2].map(() => offers.createOffer({ ...terms, expiresAtMs: null })),
    );
    expect(one?.offerId).not.toBe(other?.offerId);
    const expiresAtMs = node.clock.now() - 1000;
    const refusal = await offers.createOffer({ ...terms, expiresAtMs }).catch((error) => error);
    expect(isApiError(refusal, 'refused')).toBe(true);
  });

  test('an offer of its own is refused, and stays payable by others', async () => {
    const terms = { description: null, minAmountMsat: null, expiresAtMs: null, externalId: null };
    const { offer } = await offers.createOffer(terms);
    const command = await order({ offer: decodeOffer(offer) });
    expect(await offers.payOffer(command)).toMatchObject({ state: 'refused' });
    expect(await outcome(command)).toMatchObject({ state: 'never' });
    expect((await network.outside.paysOffer(offer, 2000n, 'tea')).state).toBe('pending');
  });

  test('what was not asked for is never sent, and is paid when it is asked for', async () => {
    const command = await order();
    expect(await outcome(command)).toMatchObject({ state: 'never' });
    expect(await offers.payOffer(command)).toMatchObject({ state: 'known' });
    expect(await ended(command)).toMatchObject({ status: 'completed', index: command.index });
  });

  test('less than the offer asks for fails at once, and is not asked again under its index', async () => {
    const offer = decodeOffer(await network.outside.offer({ amountMsat: 5_000_000n }));
    const command = await order({ offer, amountMsat: 4_999_999n });
    const failed = { state: 'known', payment: { status: 'failed', feesMsat: 0n } };
    expect(await offers.payOffer(command)).toMatchObject(failed);
    expect(await offers.payOffer({ ...command, amountMsat: 5_000_000n })).toMatchObject(failed);
  });

  test('a payment whose node is killed on its way is made once, and found by its index', async () => {
    const command = await order();
    const asked: Promise<SendReport> = offers.payOffer(command);
    const { offerId } = command.offer;
    const received = () => network.outside.receivedOn(offerId);
    await until(async () => (await received()) === 1, 'it has arrived');
    await network.killHelper();
    expect(['known', 'unknown']).toContain((await asked).state);
    const usable = async () => (await node.info()).numUsableChannels > 0;
    await until(() => usable().catch(() => false), 'the node is back');
    expect((await offers.payOffer({ ...command, isRepeat: true })).state).toBe('known');
    expect((await ended(command)).status).toBe('completed');
    expect(await received()).toBe(1);
  });
});
