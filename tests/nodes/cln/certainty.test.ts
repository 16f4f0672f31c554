import { describe, expect, test } from 'bun:test';
import {
  exceedsFeeLimit,
  failureBy,
  gaveWay,
  isOfXpay,
  LOST,
  LOST_BY_OTHER,
  refusesToClose,
  refusesToOpen,
  refusesToPay,
  refusesToPublish,
} from '../../../src/nodes/cln/words/certainty.ts';
import { ClnRefusal } from '../../../src/nodes/cln/words/refusal.ts';

/** Every code of common/jsonrpc_errors.h of Core Lightning 26.06.6. */
const CODES = {
  JSONRPC2_INVALID_REQUEST: -32600,
  JSONRPC2_METHOD_NOT_FOUND: -32601,
  JSONRPC2_INVALID_PARAMS: -32602,
  LIGHTNINGD: -1,
  PARAM_DEV_ERROR: -2,
  PLUGIN_ERROR: -3,
  PLUGIN_TERMINATED: -4,
  LIGHTNINGD_SHUTDOWN: -5,
  PAY_IN_PROGRESS: 200,
  PAY_RHASH_ALREADY_USED: 201,
  PAY_UNPARSEABLE_ONION: 202,
  PAY_DESTINATION_PERM_FAIL: 203,
  PAY_TRY_OTHER_ROUTE: 204,
  PAY_ROUTE_NOT_FOUND: 205,
  PAY_ROUTE_TOO_EXPENSIVE: 206,
  PAY_INVOICE_EXPIRED: 207,
  PAY_NO_SUCH_PAYMENT: 208,
  PAY_UNSPECIFIED_ERROR: 209,
  PAY_STOPPED_RETRYING: 210,
  PAY_STATUS_UNEXPECTED: 211,
  PAY_INVOICE_REQUEST_INVALID: 212,
  PAY_INVOICE_PREAPPROVAL_DECLINED: 213,
  PAY_KEYSEND_PREAPPROVAL_DECLINED: 214,
  PAY_INSUFFICIENT_FUNDS: 215,
  PAY_UNREACHABLE: 216,
  PAY_USER_ERROR: 217,
  PAY_INJECTPAYMENTONION_FAILED: 218,
  PAY_INJECTPAYMENTONION_ALREADY_PAID: 219,
  FUND_MAX_EXCEEDED: 300,
  FUND_CANNOT_AFFORD: 301,
  FUND_OUTPUT_IS_DUST: 302,
  FUNDING_BROADCAST_FAIL: 303,
  FUNDING_STILL_SYNCING_BITCOIN: 304,
  FUNDING_PEER_NOT_CONNECTED: 305,
  FUNDING_UNKNOWN_PEER: 306,
  FUNDING_NOTHING_TO_CANCEL: 307,
  FUNDING_CANCEL_NOT_SAFE: 308,
  FUNDING_PSBT_INVALID: 309,
  FUNDING_V2_NOT_SUPPORTED: 310,
  FUNDING_UNKNOWN_CHANNEL: 311,
  FUNDING_STATE_INVALID: 312,
  FUND_CANNOT_AFFORD_WITH_EMERGENCY: 313,
  FUND_INPUT_IS_ZERO: 314,
  SPLICE_BROADCAST_FAIL: 350,
  SPLICE_WRONG_OWNER: 351,
  SPLICE_UNKNOWN_CHANNEL: 352,
  SPLICE_INVALID_CHANNEL_STATE: 353,
  SPLICE_NOT_SUPPORTED: 354,
  SPLICE_BUSY_ERROR: 355,
  SPLICE_INPUT_ERROR: 356,
  SPLICE_FUNDING_LOW: 357,
  SPLICE_STATE_ERROR: 358,
  SPLICE_LOW_FEE: 359,
  SPLICE_HIGH_FEE: 360,
  SPLICE_ABORT: 362,
  SPLICE_CHANNEL_ERROR: 363,
  CONNECT_NO_KNOWN_ADDRESS: 400,
  CONNECT_ALL_ADDRESSES_FAILED: 401,
  CONNECT_DISCONNECTED_DURING: 402,
  BCLI_ERROR: 500,
  BCLI_NO_FEE_ESTIMATES: 501,
  HSM_ECDH_FAILED: 800,
  INVOICE_LABEL_ALREADY_EXISTS: 900,
  INVOICE_PREIMAGE_ALREADY_EXISTS: 901,
  INVOICE_HINTS_GAVE_NO_ROUTES: 902,
  INVOICE_EXPIRED_DURING_WAIT: 903,
  INVOICE_WAIT_TIMED_OUT: 904,
  INVOICE_NOT_FOUND: 905,
  INVOICE_STATUS_UNEXPECTED: 906,
  INVOICE_OFFER_INACTIVE: 907,
  INVOICE_NO_DESCRIPTION: 908,
  OFFER_ALREADY_EXISTS: 1000,
  OFFER_ALREADY_DISABLED: 1001,
  OFFER_EXPIRED: 1002,
  OFFER_ROUTE_NOT_FOUND: 1003,
  OFFER_BAD_INVREQ_REPLY: 1004,
  OFFER_TIMEOUT: 1005,
  OFFER_ALREADY_ENABLED: 1006,
  OFFER_USED_SINGLE_USE: 1007,
  DATASTORE_DEL_DOES_NOT_EXIST: 1200,
  DATASTORE_DEL_WRONG_GENERATION: 1201,
  DATASTORE_UPDATE_ALREADY_EXISTS: 1202,
  DATASTORE_UPDATE_DOES_NOT_EXIST: 1203,
  DATASTORE_UPDATE_WRONG_GENERATION: 1204,
  DATASTORE_UPDATE_HAS_CHILDREN: 1205,
  DATASTORE_UPDATE_NO_CHILDREN: 1206,
  SIGNMESSAGE_PUBKEY_NOT_FOUND: 1301,
  DELFORWARD_NOT_FOUND: 1401,
  DELNETWORKEVENT_NOT_FOUND: 1402,
  RUNE_NOT_AUTHORIZED: 1501,
  RUNE_NOT_PERMITTED: 1502,
  RUNE_BLACKLISTED: 1503,
  RECOVER_NODE_IN_USE: 1600,
  CREATEPROOF_NO_PAYMENT: 1700,
  WAIT_TIMEOUT: 2000,
} as const;
type Code = keyof typeof CODES;

/** The codes with which no command begins. */
const NOT_BEGUN: readonly Code[] = [
  'JSONRPC2_METHOD_NOT_FOUND',
  'JSONRPC2_INVALID_PARAMS',
  'RUNE_NOT_AUTHORIZED',
  'RUNE_NOT_PERMITTED',
  'RUNE_BLACKLISTED',
];
const TOLD = 'some words';

const proves = (
  certainty: (refusal: ClnRefusal) => boolean,
  code: number | null,
  text: string = TOLD,
) => certainty(new ClnRefusal(code, text));

/** Codes that no release gives, most of them beside one that proves something. */
const UNLISTED = [
  0, 1, -6, 100, 199, 220, 299, 315, 1500, 1504, 32601, 32602, -32603, -32700, 9999,
];

/** The names of the codes that prove something, of all codes. */
const proving = (certainty: (refusal: ClnRefusal) => boolean, text = TOLD): string[] =>
  Object.entries(CODES)
    .filter(([, code]) => proves(certainty, code, text))
    .map(([name]) => name)
    .toSorted();

describe('of all codes of Core Lightning', () => {
  test('those with which xpay has sent nothing and sends nothing any more', () => {
    expect(proving(refusesToPay)).toEqual(
      [
        ...NOT_BEGUN,
        'PAY_ROUTE_NOT_FOUND',
        'PAY_ROUTE_TOO_EXPENSIVE',
        'PAY_INVOICE_EXPIRED',
        'PAY_INVOICE_PREAPPROVAL_DECLINED',
        'PAY_USER_ERROR',
      ].toSorted(),
    );
  });

  test('those with which sendpsbt has not begun', () => {
    expect(proving(refusesToPublish)).toEqual(NOT_BEGUN.toSorted());
  });

  test('those with which fundchannel ends without a channel: all but where it was cut short or could not publish', () => {
    const unknown = new Set<string>([
      'PLUGIN_ERROR',
      'PLUGIN_TERMINATED',
      'LIGHTNINGD_SHUTDOWN',
      'FUNDING_BROADCAST_FAIL',
    ]);
    expect(proving(refusesToOpen)).toEqual(
      Object.keys(CODES)
        .filter((name) => !unknown.has(name))
        .toSorted(),
    );
    for (const text of ['Error broadcasting the transaction', 'Broadcast failed']) {
      expect(proving(refusesToOpen, text)).toEqual([]);
    }
  });

  test('those with which close has asked the peer nothing', () => {
    expect(proving(refusesToClose)).toEqual(NOT_BEGUN.toSorted());
    for (const text of [
      "Peer leased this channel from us, we shouldn't close until lease has expired",
      'Channel is in state CLOSINGD_COMPLETE',
      'Peer has no active channel',
      'Peer has multiple channels: use channel_id or short_channel_id',
    ]) {
      expect(proves(refusesToClose, CODES.LIGHTNINGD, text)).toBe(true);
    }
    expect(proves(refusesToClose, CODES.LIGHTNINGD, 'Oops: Channel is in state X')).toBe(false);
  });

  test('those that xpay itself gives', () => {
    const own = Object.entries(CODES).filter(([, code]) => isOfXpay(code));
    expect(own.map(([name]) => name)).toEqual(
      Object.keys(CODES).filter((name) => name.startsWith('PAY_')),
    );
    // It may give a new one, and other commands begin at 300.
    expect([199, 220, 299].map(isOfXpay)).toEqual([false, true, true]);
  });

  test('those with which xpay gave way to another attempt of the hash', () => {
    expect(proving(gaveWay)).toEqual(['PAY_INJECTPAYMENTONION_ALREADY_PAID']);
    const inProgress =
      'Unexpected injectpaymentonion error 200: {"code":200,"message":"Payment with groupid=1 still in progress"}';
    expect(proving(gaveWay, inProgress)).toEqual(
      ['PLUGIN_ERROR', 'PAY_INJECTPAYMENTONION_ALREADY_PAID'].toSorted(),
    );
    const used = 'Unexpected injectpaymentonion error 201: {"code":201}';
    expect(proves(gaveWay, CODES.PLUGIN_ERROR, used)).toBe(true);
    const other = 'Unexpected injectpaymentonion error -32602: {"code":-32602}';
    for (const text of [
      other,
      used.replace('201', '202'),
      used.replace('201', '2010'),
      used.replace('inject', 'reinject'),
    ]) {
      expect(proves(gaveWay, CODES.PLUGIN_ERROR, text)).toBe(false);
    }
  });

  test('an answer without a code proves nothing', () => {
    for (const certainty of [refusesToPay, refusesToPublish, refusesToOpen, refusesToClose]) {
      expect(proves(certainty, null, 'Peer has no active channel')).toBe(false);
    }
    expect(proves(gaveWay, null)).toBe(false);
  });

  test('a code that is in no list proves nothing of a payment, a transaction or a close', () => {
    for (const certainty of [refusesToPay, refusesToPublish, refusesToClose, gaveWay]) {
      expect(UNLISTED.filter((code) => proves(certainty, code))).toEqual([]);
    }
    // With any error of its own fundchannel gives up.
    expect(UNLISTED.filter((code) => !proves(refusesToOpen, code))).toEqual([]);
  });

  test('no words prove that xpay or sendpsbt has done nothing', () => {
    const codes: readonly Code[] = ['LIGHTNINGD', 'PLUGIN_ERROR', 'PAY_UNSPECIFIED_ERROR'];
    for (const text of [
      'Peer has no active channel',
      'Failed: Could not find route without excessive cost',
      'code 205',
      '{"code":-32602}',
      'Unknown command',
      '',
    ]) {
      for (const code of codes) {
        expect(proves(refusesToPay, CODES[code], text)).toBe(false);
        expect(proves(refusesToPublish, CODES[code], text)).toBe(false);
      }
    }
  });
});

describe('why a payment failed', () => {
  const reason = (code: number, text: string, maxFeeMsat = 1000n) =>
    failureBy(new ClnRefusal(code, text), maxFeeMsat);

  test('is said of the fee limit where that alone was in the way, also at the end of a long answer', () => {
    const tooMuch = 'Could not find route without excessive cost';
    expect(reason(206, `Failed: ${tooMuch}`)).toBe('no route for at most 1 sat in fees');
    const long = `Failed after 9 attempts. ${'Error temporary_channel_failure. '.repeat(30)}Then routing failed: ${tooMuch}`;
    expect(reason(209, long, 2500n)).toBe('no route for at most 2.5 sats in fees');
    const reduced =
      'After reducing the flows to 3 (i.e. maxparts), we had a fee of 3000msat, greater than max of 1000msat.';
    expect(proves(exceedsFeeLimit, 206, reduced)).toBe(true);
    for (const text of [
      'Could not find route without excessive costs',
      'A herewithout excessive cost',
      reduced.replace('we had', 'owe had'),
      reduced.replace('max of', 'max offered'),
      reduced.replace('3000msat', ''),
    ]) {
      expect([text, proves(exceedsFeeLimit, 206, text)]).toEqual([text, false]);
    }
  });

  test('is said of the receiver, of another attempt, or of the routes', () => {
    expect(reason(203, "Destination said it doesn't know invoice")).toBe(
      'rejected by the receiver',
    );
    expect(reason(219, 'Already paid this invoice successfully')).toBe('paid by another attempt');
    expect(reason(206, 'Could not find route without excessive delays')).toBe('no route');
    expect(reason(209, 'Timed out after 9 attempts')).toBe('no route');
  });

  test('is said of what the node has lost: an attempt of the wallet, or one of another program', () => {
    expect(LOST).toBe('lost by the node when it was stopped, which never pays this invoice again');
    expect(LOST_BY_OTHER).toBe(
      'not sent: the node has lost another payment of this invoice, and never pays it again',
    );
  });
});
