import { beforeEach, describe, expect, test } from 'bun:test';
import { ApiError, refused } from '../../src/model/errors.ts';
import { budgetRules, periodStart } from '../../src/wallet/budget/budget.ts';
import { withReservedFee } from '../../src/wallet/budget/reserved-fee.ts';
import { type EffectNames, sentBefore } from '../../src/wallet/session/effect-names.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { rejection } from '../support/rejection.ts';
import { CLIENT, WALLET } from '../support/store-steps.ts';

const NOW_MS = 7;
const NAME = `closing_${CLIENT}_${'a1'.repeat(32)}`;
const RESERVED = `reserve ${NAME}: 1000 of ${CLIENT} at ${NOW_MS}`;
const overBudget = () => new ApiError('overBudget', 'The database was restored: confirm.');

/** What was done, in order. */
let steps: string[];
let running: number;
beforeEach(() => {
  steps = [];
  running = 0;
});

/** A step that takes a turn; it says so when it does not wait for the one before. */
const later = async (step: string) => {
  const waited = running === 0;
  running += 1;
  await new Promise(setImmediate);
  running -= 1;
  steps.push(waited ? step : `${step} too early`);
};

interface World {
  readonly hasBudget?: boolean;
  /** What an earlier run of the request kept for closing. */
  readonly earlier?: string | null;
  readonly trusted?: () => void;
  readonly kept?: () => void;
  readonly bound?: () => void;
  readonly settled?: () => void;
}

/** What the node has done. */
interface Done {
  readonly isNew: boolean;
  readonly feeMsat: bigint | null;
}

/**
 * Reserves the fee of closing a channel, of which the node says that it costs at most 500 msat, and asks the node to
 * close it. What it says to that is given to `says`, which resolves at the end.
 */
async function reserve({ hasBudget = true, earlier = null, ...checks }: World = {}) {
  const session = {
    userPk: WALLET,
    caller: { id: CLIENT },
    client: () => null,
    hasBudget: () => hasBudget,
    budgetRules,
    node: { clock: { now: () => NOW_MS } },
    resolver: { ready: () => later('ready') },
    guard: {
      requireTrusted() {
        steps.push('trusted');
        checks.trusted?.();
      },
      async requireKept() {
        await later('marker kept');
        checks.kept?.();
      },
    },
    store: {
      spends: {
        reserve: (wallet, name, { clientPk, amountMsat, nowMs }, rules) => {
          expect(wallet).toBe(WALLET);
          expect(rules).toBe(budgetRules);
          return later(`reserve ${name}: ${amountMsat} of ${clientPk} at ${nowMs}`);
        },
        async settle(wallet, name, costMsat, startOf) {
          expect([wallet, startOf]).toEqual([WALLET, periodStart]);
          await later(`settle ${name}: ${costMsat}`);
          checks.settled?.();
        },
      } satisfies Partial<Session['store']['spends']>,
    },
  } as unknown as Session;
  const asked = Promise.withResolvers<{ maxFeeMsat: bigint | null; isRepeat: boolean }>();
  const said = Promise.withResolvers<Done>();
  const bound = async () => {
    await later('bound');
    checks.bound?.();
    return 500n;
  };
  const done = withReservedFee(session, namesOf(earlier), 'closing', bound, (terms) => {
    asked.resolve(terms);
    return said.promise;
  });
  const terms = await Promise.race([asked.promise, done.then(() => expect.unreachable())]);
  return {
    ...terms,
    says(answer: Promise<Done>) {
      said.resolve(answer);
      return done;
    },
  };
}

function namesOf(earlier: string | null): EffectNames {
  return {
    isKeyed: true,
    bytes: (purpose) => new Uint8Array(32).fill(purpose === 'closing' ? 0xa1 : 0),
    earlier: (purpose) => (purpose === 'closing' ? earlier : null),
    async kept(purpose, draw) {
      const value = earlier ?? (await draw());
      await later(`keep ${purpose}: ${value}`);
      return value;
    },
    forget: () => later('forget'),
  };
}

const refuse = () => Promise.reject(refused('Not enough coins: receive more.'));

describe('the fee of a client with a budget', () => {
  test('is reserved twice as high as its bound, under a name of this client and request, before the node may act', async () => {
    const fee = await reserve();
    expect(fee.isRepeat).toBe(false);
    expect(steps).toEqual([
      'ready',
      'trusted',
      'bound',
      'keep closing: 500',
      RESERVED,
      'marker kept',
    ]);
    expect(fee.maxFeeMsat).toBe(1000n);
  });

  test('is bounded in a repeat as the first run was, without asking the node', async () => {
    const fee = await reserve({ earlier: '500' });
    expect(fee.isRepeat).toBe(true);
    expect(steps).toEqual(['ready', 'trusted', 'keep closing: 500', RESERVED, 'marker kept']);
    expect(fee.maxFeeMsat).toBe(1000n);
  });

  test('is not reserved in a database that was restored', async () => {
    const trusted = () => {
      throw overBudget();
    };
    expect(await rejection(reserve({ trusted }))).toMatchObject({
      kind: 'overBudget',
      data: { sent: 'no' },
    });
    expect(steps).toEqual(['ready', 'trusted']);
  });

  test('is given back where the marker cannot be kept, but not what an earlier run may have spent', async () => {
    const kept = () => {
      throw overBudget();
    };
    const error = { kind: 'overBudget' };
    expect(await rejection(reserve({ kept }))).toMatchObject({ ...error, data: { sent: 'no' } });
    expect(steps.slice(-2)).toEqual(['marker kept', `settle ${NAME}: 0`]);
    const repeat = reserve({ kept, earlier: '500' });
    expect(await rejection(repeat)).toMatchObject({ ...error, data: { sent: 'unknown' } });
    expect(steps.at(-1)).toBe('marker kept');
  });
});

describe('when the node refuses', () => {
  test('the fee is given back, then its name is forgotten, and nothing was sent', async () => {
    const fee = await reserve();
    steps = [];
    expect(await rejection(fee.says(refuse()))).toMatchObject({
      kind: 'refused',
      data: { sent: 'no' },
    });
    expect(steps).toEqual([`settle ${NAME}: 0`, 'forget']);
  });

  test('nothing was sent also where the fee cannot be given back, and its name is kept', async () => {
    const settled = () => {
      throw new ApiError('overCapacity', 'The disk is full: free space.');
    };
    const fee = await reserve({ settled });
    steps = [];
    expect(await rejection(fee.says(refuse()))).toMatchObject({
      kind: 'overCapacity',
      data: { sent: 'no' },
    });
    expect(steps).toEqual([`settle ${NAME}: 0`]);
  });

  test('a repeat gives nothing back, since an earlier run may have succeeded', async () => {
    const fee = await reserve({ earlier: '500' });
    steps = [];
    expect(await rejection(fee.says(refuse()))).toMatchObject({ data: { sent: 'unknown' } });
    expect(steps).toEqual([]);
  });

  test('without a budget its name is forgotten all the same', async () => {
    const fee = await reserve({ hasBudget: false });
    steps = [];
    expect(await rejection(fee.says(refuse()))).toMatchObject({ data: { sent: 'no' } });
    expect(steps).toEqual(['forget']);
  });
});

describe('the fee stays reserved, since the node may have done it,', () => {
  for (const [when, thrown] of [
    ['when its answer is lost', refusedUnknown()],
    ['when the connector breaks', new TypeError('undefined is not a function')],
    ['after an error of storage', new ApiError('overCapacity', 'The disk is full: free space.')],
  ] as const) {
    test(when, async () => {
      const fee = await reserve();
      steps = [];
      expect(await rejection(fee.says(Promise.reject(thrown)))).toMatchObject({
        data: { sent: 'unknown' },
      });
      expect(steps).toEqual([]);
    });
  }

  function refusedUnknown() {
    return new ApiError('unreachable', 'No answer came: look later.', { outcomeUnknown: true });
  }
});

describe('what was done costs', () => {
  const settled = async ({ isNew, feeMsat }: Done, world: World = {}) => {
    const fee = await reserve(world);
    steps = [];
    await fee.says(Promise.resolve({ isNew, feeMsat }));
    return steps;
  };

  test('its true fee, or else the bound that the node named', async () => {
    expect(await settled({ isNew: true, feeMsat: 600n })).toEqual([`settle ${NAME}: 600`]);
    expect(await settled({ isNew: true, feeMsat: 0n })).toEqual([`settle ${NAME}: 0`]);
    expect(await settled({ isNew: true, feeMsat: null })).toEqual([`settle ${NAME}: 500`]);
  });

  test('nothing where it was done before, unless by an earlier run of this request', async () => {
    const before = { isNew: false, feeMsat: 600n };
    expect(await settled(before)).toEqual([`settle ${NAME}: 0`]);
    expect(await settled(before, { earlier: '500' })).toEqual([`settle ${NAME}: 600`]);
  });

  test('nothing in a budget that there is not', async () => {
    expect(await settled({ isNew: true, feeMsat: 600n }, { hasBudget: false })).toEqual([]);
  });
});

test('without a budget the fee has no bound, none is asked for, and only the request is kept', async () => {
  const untrusted = () => {
    throw overBudget();
  };
  const fee = await reserve({ hasBudget: false, trusted: untrusted, kept: untrusted });
  expect(steps).toEqual(['ready', 'keep closing: 0']);
  expect(fee.maxFeeMsat).toBeNull();
});

test('an error before the node is asked says what was sent: nothing in a first run, unknown in a repeat', async () => {
  const bound = () => {
    throw new TypeError('undefined is not a function');
  };
  expect(await rejection(reserve({ bound }))).toMatchObject({
    kind: 'internal',
    data: { sent: 'no' },
  });
  expect(sentBefore(namesOf(null), 'closing')).toBe('no');
  expect(sentBefore(namesOf('500'), 'closing')).toBe('unknown');
  expect(sentBefore(namesOf('500'), 'opening')).toBe('no');
});
