import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { quietResolvers } from '../../../src/lib/quiet-resolvers.ts';
import { ApiError } from '../../../src/model/errors.ts';
import { idOf, type Payment } from '../../../src/model/payment.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import type { SendReport } from '../../../src/nodes/node.ts';
import { send } from '../../../src/wallet/pay/send.ts';
import type { SendIdentity } from '../../../src/wallet/pay/send-plan.ts';
import { setPersonalNote } from '../../../src/wallet/read/note.ts';
import { waitForFinal } from '../../../src/wallet/read/wait.ts';
import { throwing } from '../../support/rejection.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { unreachable } from '../fake-node.ts';
import { follow } from '../told.ts';
import { contextOf, planOf, sent, shown } from './plan.ts';
import { refusal, sendWorld, silence } from './send-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Readers are shown a spend once the node has said something of it, or its answer is lost (docs/decisions.md 168). */

const wallet = sendWorld();

/** Another payment, which wakes every tail. */
const receive = (number: number) =>
  wallet.owner.feed.record(
    {
      payment: samplePayment(number, { direction: 'inbound', createdAtMs: 2_000_000 }),
      attempt: null,
    },
    wallet.owner.node,
  );
const own = ({ hash }: Payment) => hash === samplePayment(1).hash;
const rows = () => wallet.world.store.journal.updatedAfter(WALLET, null, 100);

/** Begins a send whose request is on its way until it is given a report. */
async function beginSend() {
  const [asked, report] = [quietResolvers<SendIdentity>(), quietResolvers<SendReport>()];
  const sending = send(
    contextOf(wallet.owner),
    planOf((identity) => {
      asked.resolve(identity);
      return report.promise;
    }),
  );
  sending.catch(() => undefined);
  return { identity: await asked.promise, sending, answer: report.resolve };
}

describe('a send whose request is on its way', () => {
  test('is told to no tail that another payment wakes, and leaves nothing there when it is refused', async () => {
    const told = follow(wallet.owner);
    const { sending, answer } = await beginSend();
    await receive(5);
    await until(() => told.length === 1, 'the tail has told of the other payment');
    answer(await refusal());
    expect(await throwing(sending)).toThrow('No route');
    await receive(6);
    await until(() => told.length === 2, 'the tail has told of the last payment');
    expect(told.filter(own)).toEqual([]);
    expect((await rows()).filter(own)).toEqual([]);
  });

  test('is told with what the node says of it, behind the other payment', async () => {
    const told = follow(wallet.owner);
    const { identity, sending, answer } = await beginSend();
    await receive(5);
    await until(() => told.length === 1, 'the tail has told of the other payment');
    answer(shown(sent.pending(identity), 1));
    expect((await sending).payment).toMatchObject({ index: identity.index, status: 'pending' });
    await until(() => told.length === 2, 'the tail has told of the send');
    expect(told[1]).toMatchObject({ index: identity.index, status: 'pending' });
  });

  test('is there for nobody who knows its index, until there is an answer', async () => {
    const { owner } = wallet;
    const told = follow(owner);
    const { identity, sending, answer } = await beginSend();
    const { index } = identity;
    expect(await owner.history.payment(index)).toBeNull();
    expect(await throwing(setPersonalNote(owner, index, 'mine'))).toThrow('not found');
    const { signal } = new AbortController();
    expect(await throwing(waitForFinal(owner, index, signal))).toThrow('not found');
    await receive(5);
    await until(() => told.length === 1, 'the tail has told of the other payment');
    expect(told.filter(own)).toEqual([]);
    answer(shown(sent.pending(identity), 1));
    await sending;
    expect(await owner.history.payment(index)).toMatchObject({ index, status: 'pending' });
    await setPersonalNote(owner, index, 'mine');
  });

  test('that gives way to another program is not told as the own one', async () => {
    const told = follow(wallet.owner);
    const { sending, answer } = await beginSend();
    await receive(5);
    const createdAtMs = 1_500_000;
    const index = paymentIndex(createdAtMs, idOf(samplePayment(1)));
    const payment = sent.done({ index, createdAtMs });
    wallet.world.fake.newestAttempt = async () => 1;
    answer({ state: 'taken', payment, attempt: 1 });
    expect((await sending).payment.status).toBe('completed');
    await until(() => told.some(own), 'the tail has told of the payment');
    expect(told.filter(own).map(({ status }) => status)).toEqual(['completed']);
  });

  test('is pending for every reader before a caller learns that the answer is lost', async () => {
    const told = follow(wallet.owner);
    const { identity, sending, answer } = await beginSend();
    await receive(5);
    answer(await silence());
    await sending;
    expect((await rows()).filter(own)).toMatchObject([{ status: 'pending' }]);
    await until(() => told.length === 2, 'the tail has told of the send');
    expect(told[1]).toMatchObject({ index: identity.index, status: 'pending' });
  });
});

describe('a send whose answer is lost', () => {
  /** Makes that method of the store fail until the returned function is called. */
  function breakUntil<T extends object>(port: T, method: keyof T): () => void {
    const works = port[method];
    const fails = () => Promise.reject(new ApiError('overCapacity', 'The disk is full.'));
    Object.assign(port, { [method]: fails });
    return () => Object.assign(port, { [method]: works });
  }

  test('is shown later where the store cannot show it now', async () => {
    const mend = breakUntil(wallet.world.store.journal, 'show');
    const { identity, sending, answer } = await beginSend();
    answer(await silence());
    expect((await sending).payment.index).toBe(identity.index);
    expect((await rows()).filter(own)).toEqual([]);
    mend();
    await until(async () => (await rows()).some(own), 'the send is shown');
  });

  test('is shown where what the node said could not be stored', async () => {
    const mend = breakUntil(wallet.world.store.observations, 'apply');
    const { identity, sending, answer } = await beginSend();
    answer(shown(sent.done(identity), 1));
    expect(await throwing(sending)).toThrow('disk is full');
    expect((await rows()).filter(own)).toMatchObject([{ status: 'pending' }]);
    mend();
  });

  test('by a kill is shown after the restart, also while the node is away', async () => {
    const { identity, sending } = await beginSend();
    void sending;
    expect((await rows()).filter(own)).toEqual([]);
    wallet.world.kill();
    wallet.world.fake.sendOutcome = () => Promise.reject(unreachable());
    const { owner } = await wallet.world.start();
    expect(await throwing(owner.resolver.ready())).toThrow('out of reach');
    expect(await rows()).toMatchObject([{ index: identity.index, status: 'pending' }]);
    wallet.world.fake.sendOutcome = async () => ({ state: 'unknown' });
    await owner.resolver.ready();
    expect(await rows()).toHaveLength(1);
    wallet.world.fake.sendOutcome = async () => shown(sent.done(identity), 1);
    await until(async () => (await wallet.unfinished()).length === 0, 'the send is over');
    expect(await rows()).toMatchObject([{ index: identity.index, status: 'completed' }]);
  });
});
