import { beforeEach, describe, expect, spyOn, test } from 'bun:test';
import {
  fingerprint,
  IdempotentRequests,
  type Outcome,
  readIdempotencyKey,
} from '../../../src/http/middleware/idempotency.ts';
import { isSealed } from '../../../src/http/middleware/sealed-outcome.ts';
import { openLog } from '../../../src/lib/log.ts';
import { ApiError, refused } from '../../../src/model/errors.ts';
import type { PaymentIndex } from '../../../src/model/payment-index.ts';
import type { KeyScope, Store } from '../../../src/store/ports.ts';
import { openSqliteStore } from '../../../src/store/sqlite/index.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { rejection } from '../../support/rejection.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { CLIENT, clientRecord, fits, newSpend, WALLET } from '../../support/store-steps.ts';
import { until } from '../../support/until.ts';

const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
let store: Store;
let requests: IdempotentRequests;
let runs: number;
beforeEach(() => {
  store = openSqliteStore(':memory:');
  requests = new IdempotentRequests(store.idempotency, log);
  runs = 0;
});
/** Acts as a kill of the process: everything in memory is lost. */
const restart = () => {
  requests = new IdempotentRequests(store.idempotency, log);
};

type Request = Parameters<IdempotentRequests['run']>[0];
const OK: Outcome = { httpStatus: 200, body: '{"ok":true}' };
const PENDING: Outcome = { httpStatus: 202, body: '{"status":"pending"}' };
const scopeOf = (change: Partial<KeyScope> = {}): KeyScope => ({
  walletId: WALLET,
  caller: 'owner',
  key: 'k',
  ...change,
});
const one = samplePayment(1);

/** Runs a request. `runs` counts how often its handler ran. */
function run(
  work: (effect: string | null) => Outcome | Promise<Outcome>,
  change: Partial<Request> = {},
): Promise<Outcome> {
  return requests.run({
    scope: scopeOf(),
    fingerprint: 'print',
    earlierFingerprint: change.fingerprint ?? 'print',
    nowMs: 1,
    respondAfterMs: null,
    endsWait: false,
    sealKey: new Uint8Array(32).fill(1),
    subjectOf: () => null,
    isSubjectActive: async () => true,
    requireGrant: () => undefined,
    requireSight: async () => undefined,
    ready: async () => undefined,
    execute: async (effect) => {
      runs++;
      return work(effect);
    },
    resume: async () => {
      throw new Error('there was nothing to go on with');
    },
    ...change,
  });
}
const unasked = () => {
  throw new Error('the request was run again');
};
/** Begins the sample payment for the key, as a send does before it asks the node. */
const beginPayment = (change: Parameters<typeof newSpend>[1] = {}) =>
  store.spends.begin(WALLET, newSpend(one, { idempotencyKey: 'k', ...change }), fits);
const kindOf = (kind: string, data?: object) =>
  expect.objectContaining({ kind, ...(data ? { data } : {}) });

describe('one key, one request', () => {
  test('a repeat gets the first outcome, also after a restart', async () => {
    expect(await run(() => OK)).toEqual(OK);
    expect(await run(unasked)).toEqual(OK);
    restart();
    expect(await run(unasked)).toEqual(OK);
    expect(runs).toBe(1);
  });

  test('a repeat while the first is running gets its outcome and runs nothing', async () => {
    const answer = Promise.withResolvers<Outcome>();
    const all = [run(() => answer.promise), run(unasked), run(unasked)];
    answer.resolve(OK);
    expect(await Promise.all(all)).toEqual([OK, OK, OK]);
    expect(runs).toBe(1);
  });

  test('another request with the key is error 111: while it runs, when it is done, and after a restart', async () => {
    const answer = Promise.withResolvers<Outcome>();
    const first = run(() => answer.promise);
    const other = () => run(unasked, { fingerprint: 'other' });
    expect(await rejection(other())).toEqual(kindOf('idempotencyConflict'));
    answer.resolve(OK);
    await first;
    expect(await rejection(other())).toEqual(kindOf('idempotencyConflict'));
    restart();
    expect(await rejection(other())).toEqual(kindOf('idempotencyConflict'));
  });

  test("callers do not share keys: another's is simply unused, while it runs and when it is done", async () => {
    const answer = Promise.withResolvers<Outcome>();
    const first = run(() => answer.promise);
    const others = [{ caller: CLIENT }, { walletId: 'cd'.repeat(32) }].map((change) =>
      run(() => ({ httpStatus: 200, body: JSON.stringify(change) }), {
        scope: scopeOf(change),
        fingerprint: 'other',
      }),
    );
    expect((await Promise.all(others)).map(({ body }) => JSON.parse(body))).toEqual([
      { caller: CLIENT },
      { walletId: 'cd'.repeat(32) },
    ]);
    answer.resolve(OK);
    expect(await first).toEqual(OK);
    expect(await run(unasked)).toEqual(OK);
    expect(runs).toBe(3);
  });

  test('an error before anything was named or sent frees the key, for another request too', async () => {
    const failing = () => Promise.reject(refused('No route: try again.'));
    expect(await rejection(run(failing))).toEqual(kindOf('refused'));
    expect(await run(() => OK, { fingerprint: 'other' })).toEqual(OK);
    expect(runs).toBe(2);
  });

  test('an error after a payment was begun keeps the key, and a repeat goes on with the payment', async () => {
    const failing = async () => {
      await beginPayment();
      throw new ApiError('timeout', 'It took too long: look at it later.');
    };
    expect(await rejection(run(failing))).toEqual(kindOf('timeout'));
    const resumed: PaymentIndex[] = [];
    const resume = async (index: PaymentIndex) => {
      resumed.push(index);
      return OK;
    };
    expect(await run(unasked, { resume })).toEqual(OK);
    expect(resumed).toEqual([one.index]);
  });
});

describe('202 is not final', () => {
  const accepted = async () => {
    await beginPayment();
    return PENDING;
  };
  const completed = async () => OK;

  test('a later repeat is answered as the payment then stands, and that outcome is kept', async () => {
    expect(await run(accepted, { respondAfterMs: 0 })).toEqual(PENDING);
    const resume = async () => PENDING;
    expect(await run(unasked, { resume, respondAfterMs: 0 })).toEqual(PENDING);
    expect(await run(unasked, { resume: completed })).toEqual(OK);
    restart();
    expect(await run(unasked)).toEqual(OK);
    expect(runs).toBe(1);
  });

  test('a repeat that waits for the outcome does not get the 202 of a first that did not', async () => {
    const answer = Promise.withResolvers<void>();
    const first = run(
      async () => {
        await answer.promise;
        return accepted();
      },
      { respondAfterMs: 0 },
    );
    const waiting = run(unasked, { resume: completed });
    const patient = run(unasked, { resume: completed, respondAfterMs: 60_000 });
    answer.resolve();
    expect(await Promise.all([first, waiting, patient])).toEqual([PENDING, OK, OK]);
    expect(runs).toBe(1);
  });

  test('a repeat while the first waits is answered when its own patience ends, as the payment then stands', async () => {
    const answer = Promise.withResolvers<Outcome>();
    const begun = Promise.withResolvers<void>();
    const first = run(async () => {
      await beginPayment();
      begun.resolve();
      return answer.promise;
    });
    await begun.promise;
    const resume = async (index: PaymentIndex) => ({ ...PENDING, body: index });
    expect(await run(unasked, { resume, respondAfterMs: 0 })).toEqual({
      httpStatus: 202,
      body: one.index,
    });
    answer.resolve(OK);
    expect(await first).toEqual(OK);
    expect(await run(unasked)).toEqual(OK);
  });

  test('a repeat whose patience ends before anything was begun waits, since there is nothing to tell', async () => {
    const answer = Promise.withResolvers<Outcome>();
    const first = run(() => answer.promise);
    using begin = spyOn(store.idempotency, 'begin');
    const impatient = run(unasked, { respondAfterMs: 0 });
    // The repeat asks for the state of the key once its patience has ended.
    await until(() => begin.mock.results.length > 0);
    await begin.mock.results[0]?.value;
    answer.resolve(OK);
    expect(await Promise.all([first, impatient])).toEqual([OK, OK]);
  });
});

describe('after a kill', () => {
  test('a request that had neither begun nor named anything is run again', async () => {
    await store.idempotency.begin(scopeOf(), 'print', 1);
    expect(await run((effect) => ({ ...OK, body: JSON.stringify({ effect }) }))).toEqual({
      httpStatus: 200,
      body: '{"effect":null}',
    });
  });

  test('a payment that was begun is compared with the node first, and then gone on with', async () => {
    await store.idempotency.begin(scopeOf(), 'print', 1);
    await beginPayment();
    const steps: string[] = [];
    const ready = async () => void steps.push('ready');
    const resume = async (index: PaymentIndex) => {
      steps.push(`resume ${index}`);
      return OK;
    };
    expect(await run(unasked, { ready, resume })).toEqual(OK);
    expect(steps).toEqual(['ready', `resume ${one.index}`]);
  });

  test('a payment that is found never to have left is made by the repeat', async () => {
    await store.idempotency.begin(scopeOf(), 'print', 1);
    await beginPayment({ state: 'begun' });
    const ready = () => store.spends.abandon(WALLET, one.index, periodStart);
    expect(await run(() => OK, { ready })).toEqual(OK);
    expect(runs).toBe(1);
  });

  test('while the node is out of reach it is error 3, with what is not known, and the key stays', async () => {
    await store.idempotency.begin(scopeOf(), 'print', 1);
    await beginPayment();
    const ready = () => Promise.reject(new ApiError('unreachable', 'Out of reach: try again.'));
    expect(await rejection(run(unasked, { ready }))).toEqual(
      kindOf('unreachable', { sent: 'unknown', index: one.index }),
    );
    expect(await run(unasked, { resume: async () => OK })).toEqual(OK);
  });

  test('an unexpected error of that comparison is error 6, with what is not known', async () => {
    await store.idempotency.begin(scopeOf(), 'print', 1);
    await beginPayment();
    const ready = () => Promise.reject(new TypeError('on purpose'));
    expect(await rejection(run(unasked, { ready }))).toEqual(
      kindOf('internal', { sent: 'unknown', index: one.index }),
    );
  });

  test('what was named is handed to the request, which goes on with it', async () => {
    for (const index of [null, one.index]) {
      const scope = scopeOf({ key: `named ${index}` });
      await store.idempotency.begin(scope, 'print', 1);
      await store.idempotency.name(scope, { json: '{"token":"t1"}', index });
      const answer = await run((effect) => ({ httpStatus: 200, body: effect ?? '' }), { scope });
      expect(answer.body).toBe('{"token":"t1"}');
    }
  });

  test('an error after something was named keeps the key and the name', async () => {
    const naming = async () => {
      await store.idempotency.name(scopeOf(), { json: '{"token":"t1"}', index: null });
      throw new ApiError('unreachable', 'Out of reach: try again.');
    };
    expect(await rejection(run(naming))).toEqual(kindOf('unreachable'));
    const again = await run((effect) => ({ httpStatus: 200, body: effect ?? '' }));
    expect(again.body).toBe('{"token":"t1"}');
  });
});

describe('an outcome that holds a secret', () => {
  const SECRET: Outcome = {
    httpStatus: 200,
    body: `{"client_pk":"${CLIENT}","client_credentials":"a secret"}`,
  };
  const created = {
    subjectOf: (body: string) => (JSON.parse(body) as { client_pk: string }).client_pk,
  };
  const kept = async () => {
    const state = await store.idempotency.begin(scopeOf(), 'print', 1);
    return state.state === 'done' ? state.body : state.state;
  };

  test('is kept sealed, and given again to its caller', async () => {
    expect(await run(() => SECRET, created)).toEqual(SECRET);
    expect(isSealed(await kept())).toBe(true);
    expect(await kept()).not.toContain('a secret');
    restart();
    expect(await run(unasked, created)).toEqual(SECRET);
  });

  test('is not opened by another credential of the same caller', async () => {
    await run(() => SECRET, created);
    const other = { ...created, sealKey: new Uint8Array(32).fill(9) };
    expect(await rejection(run(unasked, other))).toEqual(kindOf('refused'));
  });

  test('is not given once the client has ended, by expiry too', async () => {
    await run(() => SECRET, created);
    const ended = { ...created, isSubjectActive: async (pk: string) => pk !== CLIENT };
    expect(await rejection(run(unasked, ended))).toEqual(kindOf('refused'));
  });

  test('is gone with the client, and the key makes no other', async () => {
    await run(() => SECRET, created);
    await store.clients.change(WALLET, () => ({
      records: [clientRecord({ revokedAtMs: 5 })],
      budgets: [],
    }));
    expect(await kept()).toBe('gone');
    expect(await rejection(run(unasked, created))).toEqual(kindOf('refused'));
    expect(runs).toBe(1);
  });

  test('is left as it is where it holds none', async () => {
    await run(() => OK);
    expect(await kept()).toBe(OK.body);
  });
});

test('a key is 1 to 255 printable ASCII characters', () => {
  expect([readIdempotencyKey(undefined), readIdempotencyKey(' ~')]).toEqual([null, ' ~']);
  expect(readIdempotencyKey('a'.repeat(255))).toHaveLength(255);
  for (const bad of ['', 'a'.repeat(256), 'ä', 'a\tb', '\u007f']) {
    expect(() => readIdempotencyKey(bad)).toThrow(ApiError);
  }
});

test('two requests are the same when their values are, in whatever order they were written', () => {
  const print = fingerprint('post', '/p', { a: 1n, b: { c: [1, 2], d: null } });
  expect(fingerprint('post', '/p', { b: { d: null, c: [1, 2] }, a: 1n })).toBe(print);
  for (const other of [
    { a: 2n, b: { c: [1, 2], d: null } },
    { a: 1n, b: { c: [2, 1], d: null } },
    { a: 1n, b: { c: [1, 2] } },
  ]) {
    expect(fingerprint('post', '/p', other)).not.toBe(print);
  }
  expect(fingerprint('post', '/q', { a: 1n, b: { c: [1, 2], d: null } })).not.toBe(print);
});

describe('a key of any caller', () => {
  const hidden = refused('This is not yours.');
  const pay = { ...PENDING, body: JSON.stringify({ index: one.index, status: 'pending' }) };
  /** Lets every key be one of any caller, and notes what is asked and done. */
  const ofAnyCaller = (requireSight: Request['requireSight']) => {
    const { idempotency } = store;
    const begin = async (...args: Parameters<typeof idempotency.begin>) => {
      const state = await idempotency.begin(...args);
      return state.state === 'new' ? state : { ...state, ofAnyCaller: true as const };
    };
    store = { ...store, idempotency: { ...idempotency, begin } };
    restart();
    const steps: string[] = [];
    const change: Partial<Request> = {
      requireGrant: () => void steps.push('grant'),
      requireSight: async (outcome) => {
        steps.push(`sight of ${JSON.stringify(outcome)}`);
        await requireSight(outcome);
      },
      resume: async () => {
        steps.push('resume');
        return pay;
      },
    };
    return { steps, change };
  };
  const allowed = async () => undefined;
  const refuse = async () => {
    throw hidden;
  };

  test('shows its outcome to callers who have the grant and may see it', async () => {
    await run(() => OK);
    const { steps, change } = ofAnyCaller(allowed);
    expect(await run(unasked, change)).toEqual(OK);
    expect(steps).toEqual(['grant', `sight of ${JSON.stringify(OK)}`]);
    const other = ofAnyCaller(refuse);
    expect(await rejection(run(unasked, other.change))).toBe(hidden);
  });

  test('goes on with its payment for callers who may see it, however many ask', async () => {
    await run(async () => {
      await beginPayment();
      return PENDING;
    });
    const index = { index: one.index };
    const { steps, change } = ofAnyCaller(allowed);
    expect(await run(unasked, change)).toEqual(pay);
    expect(steps).toEqual([`sight of ${JSON.stringify(index)}`, 'resume', 'grant']);
    const asked = Promise.withResolvers<void>();
    const other = ofAnyCaller(async () => {
      await asked.promise;
      throw hidden;
    });
    const both = [0, 1].map(() => run(unasked, { ...other.change, respondAfterMs: 0 }));
    const ended = Promise.allSettled(both);
    await until(() => other.steps.length === 2);
    asked.resolve();
    expect(await ended).toEqual([0, 1].map(() => ({ status: 'rejected', reason: hidden })));
    expect(other.steps).not.toContain('resume');
  });
});

describe('while the disk takes nothing', () => {
  const full = () => {
    const broken = async () => {
      throw new ApiError('overCapacity', 'The disk is full.');
    };
    store = { ...store, idempotency: { ...store.idempotency, finish: broken, release: broken } };
    restart();
  };

  test('what has happened is told, and a repeat goes on with it', async () => {
    full();
    expect(await run(() => OK)).toEqual(OK);
    restart();
    expect(await run(() => OK)).toEqual(OK);
  });

  test('an error is told as it is', async () => {
    full();
    const failed = run(() => {
      throw new ApiError('timeout', 'too late', { data: { sent: 'unknown' } });
    });
    expect(await rejection(failed)).toMatchObject({ kind: 'timeout', data: { sent: 'unknown' } });
  });
});

test('a request is known by the fingerprint that an earlier version gave it', async () => {
  await run(() => OK, { fingerprint: 'as it was spelled' });
  restart();
  const again = { fingerprint: 'canonical', earlierFingerprint: 'as it was spelled' };
  expect(await run(() => PENDING, again)).toEqual(OK);
  const other = { fingerprint: 'canonical', earlierFingerprint: 'another' };
  expect(await rejection(run(() => OK, other))).toMatchObject({ kind: 'idempotencyConflict' });
});
