import { describe, expect, test } from 'bun:test';
import {
  type anyRefusal,
  refusesToOpen,
  refusesToPay,
  refusesToPublish,
} from '../../../src/nodes/lnd/certainty.ts';
import {
  isUnknownToLnd,
  LndRefusal,
  mayBeRejected,
  refusalError,
  saysRejected,
} from '../../../src/nodes/lnd/refusal.ts';

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
    [504, 4, 'context deadline exceeded', 'timeout'],
  ] as const;
  for (const [status, code, text, kind] of cases) {
    test(`"${text}" is ${kind}`, () => {
      expect(refusalError(new LndRefusal(status, code, text)).kind).toBe(kind);
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

describe('a macaroon is rejected only by the very words of LND', () => {
  const said = (text: string) => new LndRefusal(500, 2, text);
  const rejected = [
    'verification failed: signature mismatch after caveat verification',
    "cannot retrieve macaroon: cannot get macaroon: root key with id 7 doesn't exist",
    "cannot get macaroon: root key with id 7 doesn't exist",
    'caveat "time-before 2026-01-01T00:00:00.000Z" not satisfied: macaroon has expired',
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
  ];
  for (const text of others) {
    test(`not by "${text}"`, () => {
      expect(saysRejected(said(text))).toBe(false);
    });
  }
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
