import { describe, expect, test } from 'bun:test';
import { isUnknownToLnd, LndRefusal, refusalError } from '../../../src/nodes/lnd/refusal.ts';

const kindOf = (httpStatus: number, grpcCode: number, text: string) =>
  refusalError(new LndRefusal(httpStatus, grpcCode, text)).kind;

describe('what LND answers instead of a result', () => {
  const cases = [
    [500, 2, 'permission denied', 'forbidden'],
    [500, 2, 'expected 1 macaroon, got 0', 'unauthenticated'],
    [
      500,
      2,
      'verification failed: signature mismatch after caveat verification',
      'unauthenticated',
    ],
    [
      500,
      2,
      "cannot retrieve macaroon: cannot get macaroon: root key with id 7 doesn't exist",
      'unauthenticated',
    ],
    [500, 2, 'cannot determine data format of binary-encoded macaroon', 'unauthenticated'],
    [500, 2, 'cannot retrieve macaroon: macaroon store is locked', 'unreachable'],
    [500, 2, 'wallet locked, unlock it to enable full RPC access', 'unreachable'],
    [500, 2, 'waiting to start, RPC services not available', 'unreachable'],
    [500, 2, 'insufficient funds available to construct transaction', 'refused'],
    [409, 6, 'invoice is already paid', 'refused'],
    [400, 3, 'proto: unknown field "zork"', 'refused'],
    [404, 5, 'unable to locate invoice', 'notFound'],
    [501, 12, 'Method Not Allowed', 'unsupported'],
  ] as const;
  for (const [status, code, text, kind] of cases) {
    test(`"${text}" is ${kind}`, () => {
      expect(kindOf(status, code, text)).toBe(kind);
    });
  }

  test('is never taken for a lost answer: LND says itself that nothing was done', () => {
    expect(refusalError(new LndRefusal(500, 2, 'invoice expired')).outcomeUnknown).toBe(false);
  });

  test('a path that LND was not built with is no unknown payment', () => {
    expect(isUnknownToLnd(new LndRefusal(404, 5, "payment isn't initiated"))).toBe(true);
    expect(isUnknownToLnd(new LndRefusal(404, 5, 'Not Found'))).toBe(false);
  });
});
