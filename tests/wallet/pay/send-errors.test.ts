import { describe, expect, test } from 'bun:test';
import { ApiError, refused } from '../../../src/model/errors.ts';
import type { SendReport, SignedSend } from '../../../src/nodes/node.ts';
import { revokeClient } from '../../../src/wallet/clients/clients.ts';
import { type SendContext, send, sendAndWait } from '../../../src/wallet/pay/send.ts';
import type { SendIdentity, SendPlan } from '../../../src/wallet/pay/send-plan.ts';
import { randomNames } from '../../../src/wallet/session/effect-names.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { WALLET } from '../../support/store-steps.ts';
import { until } from '../../support/until.ts';
import { SIGNED, unreachable } from '../fake-node.ts';
import { contextOf, planOf, sent, shown } from './plan.ts';
import { budgetOf, errorOf, sendWorld, silence, turns } from './send-world.ts';

const wallet = sendWorld();
const { claim, unfinished, clientOf, expectNothingLeft } = wallet;

describe('before the node is asked, an error leaves nothing and says that nothing was sent', () => {
  const never = planOf(() => {
    throw new Error('the node was asked');
  });
  const expectUnsent = async (context: SendContext, plan: SendPlan, kind: string) => {
    await claim(context.session.caller.id);
    const error = await errorOf({ ...context, idempotencyKey: 'k' }, plan);
    expect(error).toMatchObject({ kind, data: { sent: 'no' } });
    await expectNothingLeft(context.session.caller.id);
  };

  test('over the budget', async () => {
    const { session } = await clientOf(['send'], budgetOf(1009n));
    await expectUnsent(contextOf(session), never, 'overBudget');
  });

  test('with a budget in a store that was restored', async () => {
    const { session } = await clientOf(['send'], budgetOf(5000n));
    const { requireTrusted } = session.guard;
    Object.assign(session.guard, {
      requireTrusted: () => {
        throw new ApiError('overBudget', 'The database was restored: confirm.');
      },
    });
    await expectUnsent(contextOf(session), never, 'overBudget');
    Object.assign(session.guard, { requireTrusted });
  });

  test('when the marker cannot be written for a client with a budget', async () => {
    const { session } = await clientOf(['send'], budgetOf(5000n));
    wallet.world.marker.write = async () => {
      throw new Error('the disk is full');
    };
    await expectUnsent(contextOf(session), never, 'overCapacity');
  });

  test('when the node cannot say which attempts there are', async () => {
    wallet.world.fake.newestAttempt = () => Promise.reject(unreachable());
    await expectUnsent(contextOf(wallet.owner), never, 'unreachable');
  });

  test('when something breaks that nobody thought of', async () => {
    wallet.world.fake.newestAttempt = () => Promise.reject(new TypeError('a bug'));
    await expectUnsent(contextOf(wallet.owner), never, 'internal');
  });

  test('when the credential ends meanwhile', async () => {
    const { clientPk, session } = await clientOf(['send']);
    wallet.world.fake.newestAttempt = async () => {
      await revokeClient(wallet.owner, clientPk, randomNames);
      return 0;
    };
    await claim(clientPk);
    const error = await errorOf(contextOf(session), never);
    expect(error).toMatchObject({ kind: 'unauthenticated', data: { sent: 'no' } });
    expect(await unfinished()).toEqual([]);
    expect(await wallet.world.store.watches.has(WALLET)).toBe(false);
  });
});

test('a spend of which nobody knows whether it was stored is told as one that may be sent', async () => {
  const { spends } = wallet.owner.store;
  const { begin } = spends;
  const lost = new ApiError('overCapacity', 'Another sidecar leads.', { outcomeUnknown: true });
  Object.assign(spends, { begin: () => Promise.reject(lost) });
  const error = await errorOf(
    contextOf(wallet.owner),
    planOf(() => {
      throw new Error('the node was asked');
    }),
  );
  Object.assign(spends, { begin });
  expect(error).toMatchObject({
    kind: 'overCapacity',
    data: { sent: 'unknown', index: expect.stringContaining('ln_') },
  });
});

/** Makes the node's answer to a release of coins late, and an error. Returns what was released until now. */
function slowRelease({ node }: Session): () => readonly string[] {
  const released: string[] = [];
  Object.assign(node.onchain ?? {}, {
    release: async ({ txid }: SignedSend) => {
      await turns(20);
      released.push(txid);
      throw unreachable();
    },
  });
  return () => released;
}

describe('what is signed', () => {
  const signing = (
    start: () => Promise<SendReport>,
    sign: SendPlan['sign'] = () => wallet.world.fake.sign({} as never),
  ): SendPlan => planOf(start, { rail: 'onchain', again: 'never', sign });

  test('is begun while it is made, and stored as asked for before it is published', async () => {
    const states: unknown[] = [];
    const look = async () =>
      states.push(...(await unfinished()).map(({ state, plan }) => [state, plan]));
    const plan = signing(
      async () => {
        await look();
        return silence();
      },
      async () => {
        await look();
        return SIGNED;
      },
    );
    await send(contextOf(wallet.owner), plan);
    expect(states).toEqual([
      ['begun', null],
      ['asked', JSON.stringify(SIGNED)],
    ]);
  });

  test('or cannot be signed leaves nothing, and is not published', async () => {
    await claim();
    const plan = signing(
      () => {
        throw new Error('it was published');
      },
      () => Promise.reject(refused('Not enough coins: send less.')),
    );
    const error = await errorOf(contextOf(wallet.owner, { idempotencyKey: 'k' }), plan);
    expect(error).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
    await expectNothingLeft();
  });

  test('for a credential that ends meanwhile is not published, leaves nothing and gives its coins back', async () => {
    const { clientPk, session } = await clientOf(['send']);
    const released = slowRelease(session);
    const plan = signing(
      () => {
        throw new Error('it was published');
      },
      async () => {
        await revokeClient(wallet.owner, clientPk, randomNames);
        return SIGNED;
      },
    );
    const error = await errorOf(contextOf(session), plan);
    expect(error).toMatchObject({ kind: 'unauthenticated', data: { sent: 'no' } });
    expect([await unfinished(), released()]).toEqual([[], [SIGNED.txid]]);
    expect(await wallet.world.store.watches.has(WALLET)).toBe(false);
  });

  test('and cannot be stored is not published, leaves nothing and gives its coins back', async () => {
    await claim();
    const { asked } = wallet.world.store.spends;
    Object.assign(wallet.world.store.spends, {
      asked: () => Promise.reject(new ApiError('overCapacity', 'The disk is full: free space.')),
    });
    const plan = signing(() => {
      throw new Error('it was published');
    });
    const error = await errorOf(contextOf(wallet.owner, { idempotencyKey: 'k' }), plan);
    Object.assign(wallet.world.store.spends, { asked });
    expect(error).toMatchObject({ kind: 'overCapacity', data: { sent: 'no' } });
    expect(wallet.world.fake.onchainCalls).toEqual([`release ${SIGNED.txid}`]);
    await expectNothingLeft();
  });
});

test('what was signed says why it was not published, also where its coins cannot be given back', async () => {
  const released = slowRelease(wallet.owner);
  const start = async () => ({ state: 'refused', error: refused('Not enough.') }) as const;
  const plan = planOf(start, { rail: 'onchain', again: 'never', sign: async () => SIGNED });
  const error = await errorOf(contextOf(wallet.owner), plan);
  expect([error.message, error.data]).toEqual(['Not enough.', { sent: 'no' }]);
  expect(released()).toEqual([SIGNED.txid]);
});

test('what was signed and is certainly not published gives its coins back', async () => {
  await claim();
  const plan = planOf(
    async () => ({ state: 'refused', error: refused('The node refused: try again.') }),
    { rail: 'onchain', again: 'never', sign: async () => SIGNED },
  );
  const error = await errorOf(contextOf(wallet.owner, { idempotencyKey: 'k' }), plan);
  expect(error).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
  expect(wallet.world.fake.onchainCalls).toEqual([`release ${SIGNED.txid}`]);
  await expectNothingLeft();
});

describe('after the node was asked, every error says that it is not known what was sent', () => {
  const expectUnknown = (error: ApiError, kind: string, index: string | undefined) => {
    expect(error).toMatchObject({ kind, data: { sent: 'unknown', index } });
    expect(index).toBeDefined();
  };

  test('when what the node shows cannot be stored; it is looked up later', async () => {
    const { apply } = wallet.world.store.observations;
    Object.assign(wallet.world.store.observations, {
      apply: () => Promise.reject(new ApiError('overCapacity', 'The disk is full: free space.')),
    });
    let identity: SendIdentity | null = null;
    const error = await errorOf(
      contextOf(wallet.owner),
      planOf(async (own) => {
        identity = own;
        return shown(sent.done(own), 1);
      }),
    );
    const own = identity as SendIdentity | null;
    expectUnknown(error, 'overCapacity', own?.index);
    expect(await unfinished()).toMatchObject([{ state: 'asked' }]);
    Object.assign(wallet.world.store.observations, { apply });
    wallet.world.fake.sendOutcome = async () => shown(sent.done(own as SendIdentity), 1);
    await until(async () => (await unfinished()).length === 0);
    expect(await wallet.world.store.journal.get(WALLET, (own as SendIdentity).index)).toMatchObject(
      {
        status: 'completed',
      },
    );
  }, 60_000);

  test('when the wait for its end is cut off', async () => {
    const stop = new AbortController();
    const context = contextOf(wallet.owner, {
      signal: stop.signal,
      onSent: () => stop.abort(new ApiError('timeout', 'It took too long: look at it later.')),
    });
    const error = await errorOf(context, planOf(silence), sendAndWait);
    const [spend] = await unfinished();
    expectUnknown(error, 'timeout', spend?.payment.index);
  });

  test('when something breaks during the wait that nobody thought of', async () => {
    const stop = new AbortController();
    const broken = new TypeError('on purpose');
    const context = contextOf(wallet.owner, {
      signal: stop.signal,
      onSent: () => stop.abort(broken),
    });
    const error = await errorOf(context, planOf(silence), sendAndWait);
    const [spend] = await unfinished();
    expectUnknown(error, 'internal', spend?.payment.index);
    expect(error.cause).toBe(broken);
  });

  test('when the credential ends during the wait', async () => {
    const { clientPk, session } = await clientOf(['send']);
    const context = contextOf(session, {
      onSent: () => void revokeClient(wallet.owner, clientPk, randomNames),
    });
    const error = await errorOf(context, planOf(silence), sendAndWait);
    const [spend] = await unfinished();
    expectUnknown(error, 'unauthenticated', spend?.payment.index);
  });
});
