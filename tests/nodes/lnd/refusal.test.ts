import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../../src/model/errors.ts';
import {
  type anyRefusal,
  refusesToOpen,
  refusesToPay,
  refusesToPublish,
} from '../../../src/nodes/lnd/words/certainty.ts';
import {
  isAlreadyThere,
  isMissingAtLnd,
  isUnknownToLnd,
  LndRefusal,
  mayBeRejected,
  nextStep,
  notOpenAs,
  refusalError,
  refusalText,
  saysRejected,
  wasTurnedAway,
} from '../../../src/nodes/lnd/words/refusal.ts';

describe('what LND answers instead of a result', () => {
  const cases = [
    [500, 2, 'permission denied', 'forbidden'],
    [500, 2, 'cannot retrieve macaroon: macaroon store is locked', 'unreachable'],
    [500, 2, 'wallet locked, unlock it to enable full RPC access', 'unreachable'],
    [500, 2, 'waiting to start, RPC services not available', 'unreachable'],
    [500, 2, 'insufficient funds available to construct transaction', 'refused'],
    [409, 6, 'invoice is already paid', 'refused'],
    [400, 3, 'proto: unknown field "zork"', 'refused'],
    [404, 5, 'unable to locate invoice', 'notFound'],
    [501, 12, 'Method Not Allowed', 'unsupported'],
    [503, 14, 'connection closed', 'unreachable'],
    [499, 1, 'context canceled', 'unreachable'],
    [500, 13, 'internal', 'refused'],
    [504, 4, 'context deadline exceeded', 'timeout'],
  ] as const;
  for (const [status, code, text, kind] of cases) {
    test(`"${text}" is ${kind}`, () => {
      const refusal = new LndRefusal(status, code, text);
      expect(refusalError(refusal)).toMatchObject({ kind, cause: refusal });
    });
  }

  const words = (text: string, opener?: 'operator' | 'rootSeed') =>
    refusalError(new LndRefusal(500, 2, text), { rejected: false, outcomeUnknown: false, opener })
      .message;
  test('a locked wallet is unlocked by its operator, or by provision where the root seed opens it', () => {
    const locked = 'wallet locked, unlock it to enable full RPC access';
    expect(words(locked)).toContain('`lncli unlock`');
    expect(words(locked, 'operator')).not.toContain('provision');
    expect(words(locked, 'rootSeed')).toContain('PUT /v2/node/provision unlocks it');
  });

  test('a wallet that does not exist is created by its operator, or by signup', () => {
    const missing = 'wallet not created, create one to enable full RPC access';
    expect(words(missing)).toContain('`lncli create`');
    const refused = refusalError(new LndRefusal(500, 2, missing), {
      rejected: false,
      outcomeUnknown: false,
      opener: 'rootSeed',
    });
    expect([refused.kind, refused.message]).toEqual([
      'refused',
      expect.stringContaining('PUT /v2/node/signup creates it'),
    ]);
  });

  test('before the first invoice LND 0.18 answers code 2, and the invoice is unknown all the same', () => {
    const first = new LndRefusal(500, 2, 'there are no existing invoices');
    expect(isUnknownToLnd(first)).toBe(true);
    expect(isUnknownToLnd(new LndRefusal(500, 2, 'unable to read invoices'))).toBe(false);
  });

  test('a path that LND was not built with is no unknown payment', () => {
    expect(isUnknownToLnd(new LndRefusal(404, 5, "payment isn't initiated"))).toBe(true);
    expect(isUnknownToLnd(new LndRefusal(404, 5, 'Not Found'))).toBe(false);
  });
});

describe('what is shown of an answer of LND', () => {
  test('names the codes for the log, and not the words that were left out', () => {
    const refusal = new LndRefusal(500, 2, `secret ${'ab'.repeat(40)}`);
    expect([refusal.name, refusal.message]).toEqual([
      'LndRefusal',
      'LND answered 500 (2): secret ...',
    ]);
  });

  test('is found in an error of the connector, or alone, and nowhere else', () => {
    const refusal = new LndRefusal(409, 6, 'payment already exists');
    const error = new ApiError('refused', 'x', { cause: refusal });
    expect([refusalText(refusal), refusalText(error)]).toEqual([refusal.text, refusal.text]);
    expect(isAlreadyThere(error)).toBe(true);
    for (const foreign of [
      new Error('payment already exists'),
      new ApiError('refused', 'x', { cause: { grpcCode: 6, text: 'payment already exists' } }),
      null,
    ]) {
      expect([refusalText(foreign), isAlreadyThere(foreign)]).toEqual(['', false]);
      expect([isUnknownToLnd(foreign), isMissingAtLnd(foreign)]).toEqual([false, false]);
    }
  });

  test('is that it has the payment already by code 6 alone', () => {
    const there = (code: number) =>
      isAlreadyThere(new LndRefusal(500, code, 'payment already exists'));
    expect(Array.from({ length: 17 }, (_, code) => code).filter(there)).toEqual([6]);
  });

  test('is that it was built without something by "Not Found" alone', () => {
    expect(isMissingAtLnd(new LndRefusal(404, 5, 'Not Found'))).toBe(true);
    expect(isMissingAtLnd(new LndRefusal(404, 5, "payment isn't initiated"))).toBe(false);
    expect(isMissingAtLnd(new LndRefusal(500, 2, 'there are no existing invoices'))).toBe(false);
    expect(isMissingAtLnd(new LndRefusal(500, 2, 'something broke'))).toBe(false);
  });
});

describe('the error of this API says', () => {
  const said = (
    status: number,
    code: number,
    text: string,
    { outcomeUnknown = false, rejected = false } = {},
  ) => refusalError(new LndRefusal(status, code, text), { outcomeUnknown, rejected });
  const unknown = { outcomeUnknown: true };

  test.each([
    [500, 2, 'permission denied', 'LND refused: the macaroon does not allow this call.'],
    [504, 4, 'deadline', 'LND did not answer in time: try again.'],
    [503, 14, 'closing', 'LND ended the call without a result: try again.'],
    [499, 1, 'canceled', 'LND ended the call without a result: try again.'],
    [
      501,
      12,
      'Method Not Allowed',
      'This LND was built without a sub-server that this call needs: use a release of LND.',
    ],
    [404, 5, 'unable to locate invoice', 'LND did not find it: unable to locate invoice.'],
    [500, 2, 'no such coin', 'LND refused: no such coin.'],
  ])('of %d (%d) "%s": "%s"', (status, code, text, message) => {
    expect(said(status, code, text).message).toBe(message);
  });

  test('whether LND may have done it, whatever it answered', () => {
    const answers = [
      [500, 2, 'permission denied'],
      [500, 2, 'wallet locked'],
      [504, 4, 'deadline'],
      [503, 14, 'closing'],
      [501, 12, 'Method Not Allowed'],
      [404, 5, 'not there'],
      [500, 2, 'no such coin'],
    ] as const;
    for (const [status, code, text] of answers) {
      expect(said(status, code, text, unknown).outcomeUnknown).toBe(true);
      expect(said(status, code, text).outcomeUnknown).toBe(false);
    }
    expect(said(500, 2, 'no such coin', unknown)).toMatchObject({
      kind: 'unreadable',
      message: 'The answer of LND does not say whether it carried out the request: no such coin.',
    });
    expect(said(404, 5, 'not there', unknown).kind).toBe('unreadable');
  });

  test('that credentials have ended, once LND has rejected the macaroon twice', () => {
    const words = 'verification failed: signature mismatch after caveat verification';
    expect(said(500, 2, words, { rejected: true }).kind).toBe('unauthenticated');
    expect(said(500, 2, words).kind).toBe('refused');
  });

  test('which node cannot do it', () => {
    expect(said(501, 12, 'Method Not Allowed').data).toEqual({ node: 'lnd' });
  });

  test('what is known of an answer where nothing else is said: it was refused', () => {
    expect(refusalError(new LndRefusal(500, 2, 'macaroon has expired'))).toMatchObject({
      kind: 'refused',
      outcomeUnknown: false,
    });
  });
});

describe('an LND that does not serve', () => {
  const words = [
    ['wallet not created, create one to enable full RPC access', 'no_wallet', true],
    ['wallet locked, unlock it to enable full RPC access', 'locked', true],
    ['waiting to start, RPC services not available', 'starting', true],
    ['the RPC server is in the process of starting up, but not yet ready', 'starting', true],
    ['cannot retrieve macaroon: macaroon store is locked', 'starting', false],
    ['server is still in the process of starting', 'starting', false],
    ['routerrpc server shutting down', 'starting', false],
    ['permission denied', null, true],
    ['no such coin', null, false],
  ] as const;
  for (const [text, why, turnedAway] of words) {
    const refusal = new LndRefusal(500, 2, text);
    test(`says "${text}"${turnedAway ? ' before it looks at the call' : ''}`, () => {
      expect([notOpenAs(refusal), wasTurnedAway(refusal)]).toEqual([why, turnedAway]);
      expect(mayBeRejected(refusal)).toBe(false);
    });
    test(`says "${text}" inside other words, and may have begun`, () => {
      const inside = new LndRefusal(500, 2, `unable to do it: ${text}`);
      expect([notOpenAs(inside), wasTurnedAway(inside)]).toEqual([why, false]);
    });
  }

  test('is opened by its operator or by the sidecar', () => {
    const steps = (opener: 'operator' | 'rootSeed') =>
      (['no_wallet', 'locked', 'starting'] as const).map((why) => nextStep(why, opener));
    expect(steps('operator')).toEqual([
      'create one with `lncli create`',
      'unlock it with `lncli unlock`',
      'try again in a moment',
    ]);
    expect(steps('rootSeed')).toEqual([
      'PUT /v2/node/signup creates it',
      'PUT /v2/node/provision unlocks it',
      'try again in a moment',
    ]);
  });

  test('may still be starting with a macaroon in its words, which is not rejected', () => {
    const text = 'cannot get macaroon: the RPC server is in the process of starting up';
    expect(mayBeRejected(new LndRefusal(500, 2, text))).toBe(false);
  });
});

describe('a macaroon is rejected only by the very words of LND', () => {
  const said = (text: string) => new LndRefusal(500, 2, text);
  const rejected = [
    'verification failed: signature mismatch after caveat verification',
    "cannot retrieve macaroon: cannot get macaroon: root key with id 7 doesn't exist",
    "cannot get macaroon: root key with id 7 doesn't exist",
    'caveat "time-before 2026-01-01T00:00:00.000Z" not satisfied: macaroon has expired',
    'verification failed: caveat "time-before 2026-01-01T00:00:00.000Z" not satisfied: macaroon has expired',
    'macaroon has expired',
  ];
  for (const text of rejected) {
    test(`"${text}"`, () => {
      expect([mayBeRejected(said(text)), saysRejected(said(text))]).toEqual([true, true]);
    });
  }

  const others = [
    'no route to the macaroon shop',
    'unable to decode invoice: memo "verification failed: signature mismatch"',
    'cannot retrieve macaroon: macaroon store is locked',
    'permission denied',
    "so: cannot get macaroon: root key with id 7 doesn't exist",
    "cannot get macaroon: root key with id 7 doesn't exist in the cache",
    "cannot get macaroon: root key with id x doesn't exist",
    'so: caveat "time-before 2026" not satisfied: macaroon has expired',
    'caveat "time-before 2026" not satisfied: macaroon has expired lately',
    'caveat "time-before 2026" and "more" not satisfied: macaroon has expired',
    'so: macaroon has expired',
    'macaroon has expired lately',
  ];
  for (const text of others) {
    test(`not by "${text}"`, () => {
      expect(saysRejected(said(text))).toBe(false);
    });
  }
});

test('a macaroon may be rejected where its words are those of a macaroon, and a second call finds out', () => {
  const may = (text: string) => mayBeRejected(new LndRefusal(500, 2, text));
  for (const text of [
    'expected 1 macaroon, got 0',
    'cannot determine data format of binary-encoded macaroon',
    'cannot determine data format',
    'verification failed',
    'macaroon',
  ]) {
    expect([text, may(text)]).toEqual([text, true]);
  }
  expect([may('no such coin'), may('permission denied')]).toEqual([false, false]);
});

describe('what proves that no money was sent', () => {
  const proves = (certainty: typeof anyRefusal, code: number, text: string) =>
    certainty(new LndRefusal(500, code, text));

  const refusals = [
    'invoice expired. Valid until 2026-01-01 00:00:00 +0000 UTC',
    'self-payments not allowed',
    'amount must be specified when paying a zero amount invoice',
    'permission denied',
    'wallet locked, unlock it to enable full RPC access',
  ];
  for (const text of refusals) {
    test(`"${text}", which LND answers before it records a payment`, () => {
      expect(proves(refusesToPay, 2, text)).toBe(true);
    });
  }

  const ambiguous = [
    [1, 'context canceled'],
    [2, 'routerrpc server shutting down'],
    [2, 'payment is in transition'],
    [2, 'failed: invoice expired'],
    [2, 'anything that is not known here'],
    [4, 'context deadline exceeded'],
    [5, "payment isn't initiated"],
    [6, 'payment already exists'],
    [13, 'internal server error'],
    [14, 'transport is closing'],
  ] as const;
  for (const [code, text] of ambiguous) {
    test(`not "${text}" (${code})`, () => {
      expect(proves(refusesToPay, code, text)).toBe(false);
    });
  }

  test('not any word of a node that was asked to publish: the network may have the transaction', () => {
    expect(proves(refusesToPublish, 2, 'transaction rejected: output already spent')).toBe(false);
    expect(proves(refusesToPublish, 2, 'permission denied')).toBe(true);
  });

  test('a channel that the peer did not agree to was not opened, a lost connection says nothing', () => {
    expect(
      proves(refusesToOpen, 2, 'channel is too small, the minimum channel size is: 20000 SAT'),
    ).toBe(true);
    expect(proves(refusesToOpen, 2, 'EOF')).toBe(false);
  });

  test('an error of an uncertain answer says that the outcome is unknown, whatever its kind', () => {
    for (const code of [1, 2, 4, 13, 14]) {
      const error = refusalError(new LndRefusal(500, code, 'x'), {
        rejected: false,
        outcomeUnknown: true,
      });
      expect([code, error.outcomeUnknown, error.kind === 'refused']).toEqual([code, true, false]);
    }
  });
});
