import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../../src/model/errors.ts';
import {
  anyRefusal,
  type Certainty,
  isCoinTaken,
  refusesToBump,
  refusesToClose,
  refusesToFund,
  refusesToOpen,
  refusesToPay,
  refusesToPublish,
} from '../../../src/nodes/lnd/words/certainty.ts';
import { LndRefusal } from '../../../src/nodes/lnd/words/refusal.ts';

/** Every status code of gRPC (codes/codes.go), with one that does not exist. */
const GRPC = {
  OK: 0,
  Canceled: 1,
  Unknown: 2,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Aborted: 10,
  OutOfRange: 11,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  DataLoss: 15,
  Unauthenticated: 16,
  NoSuchCode: 17,
} as const;
type Code = keyof typeof GRPC;

const NOT_BEGUN: readonly Code[] = [
  'InvalidArgument',
  'PermissionDenied',
  'Unimplemented',
  'Unauthenticated',
];

/** The calls that are bound to the words of LND. */
const BY_WORDS = {
  pay: refusesToPay,
  publish: refusesToPublish,
  open: refusesToOpen,
  close: refusesToClose,
  bump: refusesToBump,
} as const;
type Call = keyof typeof BY_WORDS;

const proves = (certainty: Certainty, text: string, code: number = GRPC.Unknown) =>
  certainty(new LndRefusal(500, code, text));

/** The names of the codes that prove something, of all codes. */
const proving = (certainty: Certainty, text = 'some words'): string[] =>
  Object.entries(GRPC)
    .filter(([, code]) => proves(certainty, text, code))
    .map(([name]) => name);

/** The calls of which an answer with these words proves that nothing was done. */
const provenBy = (text: string): string[] =>
  Object.entries(BY_WORDS)
    .filter(([, certainty]) => proves(certainty, text))
    .map(([name]) => name);

describe('of all codes of gRPC', () => {
  for (const [name, certainty] of Object.entries(BY_WORDS)) {
    test(`those with which LND has not begun to ${name}, whatever it says`, () => {
      expect(proving(certainty)).toEqual([...NOT_BEGUN]);
    });
  }

  test('those with which LND has locked no coin: all but where the call ended without a result', () => {
    const unknown: readonly string[] = ['Canceled', 'DeadlineExceeded', 'Unavailable'];
    expect(proving(refusesToFund)).toEqual(
      Object.keys(GRPC).filter((name) => !unknown.includes(name)),
    );
  });

  test('all where no money moves', () => {
    expect(proving(anyRefusal)).toEqual(Object.keys(GRPC));
  });

  test('"Not Found" is said with code 5 of a path that LND was built without, and no other words prove that', () => {
    for (const certainty of Object.values(BY_WORDS)) {
      expect(proving(certainty, 'Not Found')).toEqual(
        Object.keys(GRPC).filter(
          (name) => name === 'NotFound' || (NOT_BEGUN as readonly string[]).includes(name),
        ),
      );
      expect(proves(certainty, 'Not Found: the payment', GRPC.NotFound)).toBe(false);
    }
  });

  test('every one with the words of an LND that looks at no call', () => {
    for (const text of [
      'permission denied',
      'wallet not created, create one to enable full RPC access',
      'wallet locked, unlock it to enable full RPC access',
      'waiting to start, RPC services not available',
      'the RPC server is in the process of starting up, but not yet ready to accept calls',
    ]) {
      for (const certainty of Object.values(BY_WORDS)) {
        expect(proving(certainty, text)).toEqual(Object.keys(GRPC));
        expect(proves(certainty, `unable to send: ${text}`)).toBe(false);
      }
    }
    for (const text of [
      'permission denied for the coin',
      'cannot retrieve macaroon: macaroon store is locked',
      'server is still in the process of starting',
      'router shutting down',
    ]) {
      expect(provenBy(text)).toEqual([]);
    }
  });
});

/**
 * The words of LND 0.18.5 to 0.21.2 that prove something, and of which call. `whole`: nothing may follow, since these
 * words are all that LND says.
 */
const WORDS: readonly (readonly [call: Call, text: string, whole?: 'whole'])[] = [
  ['pay', 'invoice expired. Valid until 2026-01-01 00:00:00 +0000 UTC'],
  ['pay', 'self-payments not allowed', 'whole'],
  ['pay', 'amount must be specified when paying a zero amount invoice'],
  ['pay', 'amount must not be specified when paying a non-zero amount invoice'],
  ['pay', 'payment request must contain either a payment address or blinded paths'],
  ['pay', 'the AMP flag (--amp or SendPaymentRequest.Amp) must be set to pay an AMP invoice'],
  ['pay', 'total time lock of 3000 exceeds max allowed 2016'],
  [
    'pay',
    'payment amount 5000 mSAT exceeds maximum possible amount 4000 mSAT with max_parts=1 and max_shard_size_msat=4000 mSAT',
  ],
  ['pay', 'feature vector contains unknown required features: [40]'],
  ['pay', 'missing feature dependency: payment-addr'],
  ['pay', "invoice not for current active network 'regtest'"],
  ['pay', 'invalid invoice signature', 'whole'],
  ['open', `peer 02${'0a19bf'.repeat(10)} is not online`, 'whole'],
  [
    'open',
    'not enough witness outputs to create funding transaction, need 0.1 BTC only have 0 BTC available',
  ],
  ['open', 'insufficient funds available to construct transaction'],
  [
    'open',
    'reserved wallet balance invalidated: transaction would leave insufficient funds for fee bumping anchor channel closings (see debug log for details)',
  ],
  ['open', `outpoint already spent or locked by another subsystem: ${'ab'.repeat(32)}:0`],
  ['open', 'channel is too small, the minimum channel size is: 20000 SAT'],
  ['open', 'funding amount is too large, the max channel size is: 10 BTC'],
  ['open', 'local funding amount must be non-zero', 'whole'],
  ['open', 'received funding error from 02ab: chan_id=00, err=no'],
  ['open', 'channels cannot be created before the wallet is fully synced', 'whole'],
  ['open', 'cannot open channel to self', 'whole'],
  ['close', 'unable to find channel'],
  ['close', 'channel not found'],
  ['close', 'cannot close channel with state: ChanStatusRestored'],
  ['close', 'cannot co-op close frozen channel as initiator until height=9, (current_height=1)'],
  [
    'close',
    'unable to gracefully close channel while peer is offline (try force closing it instead): channel link not found',
  ],
  ['bump', 'the passed output does not belong to the wallet'],
  ['bump', 'unable to bump fee of a confirmed transaction', 'whole'],
];

describe('the words of LND', () => {
  for (const [call, text, whole] of WORDS) {
    test(`"${text}" prove that it did not begin to ${call}, and nothing of another call`, () => {
      expect(provenBy(text)).toEqual([call]);
      expect(proving(BY_WORDS[call], text)).toEqual(['Unknown', ...NOT_BEGUN]);
    });

    test(`"${text}" prove nothing inside other words`, () => {
      expect(provenBy(`the router failed: ${text}`)).toEqual([]);
      expect(provenBy(`${text}, and more was said`)).toEqual(whole ? [] : [call]);
    });
  }

  test('prove nothing where a word goes on differently', () => {
    for (const text of [
      'invoice expired_at is unreadable',
      'total time lock exceeds max',
      'payment amount is in doubt',
      'peer zork is not online',
      'amount must perhaps be specified',
    ]) {
      expect(provenBy(text)).toEqual([]);
    }
  });
});

test('a coin that LND has locked or spent is known by its words, and only in an answer of LND', () => {
  const taken = 'outpoint already spent or locked by another subsystem: 00:1';
  const told = (text: string) =>
    new ApiError('refused', 'x', { cause: new LndRefusal(500, GRPC.Unknown, text) });
  expect(isCoinTaken(told(taken))).toBe(true);
  expect(isCoinTaken(told(`perhaps: ${taken}`))).toBe(false);
  expect(isCoinTaken(told('channel is too small'))).toBe(false);
  expect(isCoinTaken(new Error(taken))).toBe(false);
});
