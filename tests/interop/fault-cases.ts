import type { Fault, FaultRule } from '../hostile/fault-proxy.ts';

/** The operations under test, each of which asks LND to do something. */
export type Operation =
  | 'pay_invoice'
  | 'pay_spontaneous'
  | 'pay_onchain'
  | 'open_channel'
  | 'close_channel'
  | 'create_invoice'
  | 'create_hold_invoice'
  | 'settle_invoice'
  | 'cancel_payment';

/** One call of LND that an operation makes, with one fault. */
export interface FaultCase {
  readonly name: string;
  readonly operation: Operation;
  readonly call: string;
  readonly fault: Fault;
  readonly rules: readonly FaultRule[];
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'cut before': { kind: 'cut-before' },
  'cut after': { kind: 'cut-after' },
  'page 502': { kind: 'page', status: 502 },
  'page 504': { kind: 'page', status: 504 },
  'code 14': { kind: 'unavailable' },
  garbled: { kind: 'garble' },
  doubled: { kind: 'twice' },
};

const SEND = { method: 'POST', path: /^\/v2\/router\/send$/, nth: 1 } as const;
const TRACK = { method: 'GET', path: /^\/v2\/router\/track\// } as const;
/** LND refuses the second request because it has the payment already; the sidecar then looks the payment up. */
const SEND_TWICE: FaultRule = { ...SEND, fault: { kind: 'twice' } };

interface Call {
  readonly operation: Operation;
  readonly call: string;
  readonly rule: Omit<FaultRule, 'fault'>;
  /** A fault that must happen first, because the call is not made without it. */
  readonly first?: FaultRule;
}

const CALLS: readonly Call[] = [
  { operation: 'pay_invoice', call: 'router/send', rule: SEND },
  // One call tells of the newest attempt and of an earlier payment.
  { operation: 'pay_invoice', call: 'track before the send', rule: { ...TRACK, nth: 1 } },
  {
    operation: 'pay_invoice',
    call: 'track after the send',
    rule: { ...TRACK, nth: 2 },
    first: SEND_TWICE,
  },
  { operation: 'pay_spontaneous', call: 'router/send', rule: SEND },
  {
    operation: 'pay_onchain',
    call: 'psbt/fund',
    rule: { method: 'POST', path: /^\/v2\/wallet\/psbt\/fund$/, nth: 1 },
  },
  {
    operation: 'pay_onchain',
    call: 'psbt/finalize',
    rule: { method: 'POST', path: /^\/v2\/wallet\/psbt\/finalize$/, nth: 1 },
  },
  {
    operation: 'pay_onchain',
    call: 'tx',
    rule: { method: 'POST', path: /^\/v2\/wallet\/tx$/, nth: 1 },
  },
  {
    operation: 'open_channel',
    call: 'channels',
    rule: { method: 'POST', path: /^\/v1\/channels$/, nth: 1 },
  },
  {
    operation: 'close_channel',
    call: 'channels',
    rule: { method: 'DELETE', path: /^\/v1\/channels\//, nth: 1 },
  },
  {
    operation: 'create_invoice',
    call: 'invoices',
    rule: { method: 'POST', path: /^\/v1\/invoices$/, nth: 1 },
  },
  {
    operation: 'create_hold_invoice',
    call: 'invoices/hodl',
    rule: { method: 'POST', path: /^\/v2\/invoices\/hodl$/, nth: 1 },
  },
  {
    operation: 'settle_invoice',
    call: 'invoices/settle',
    rule: { method: 'POST', path: /^\/v2\/invoices\/settle$/, nth: 1 },
  },
  {
    operation: 'cancel_payment',
    call: 'invoices/cancel',
    rule: { method: 'POST', path: /^\/v2\/invoices\/cancel$/, nth: 1 },
  },
];

/** Every call with every fault. */
export const ALL_FAULT_CASES: readonly FaultCase[] = CALLS.flatMap((one) =>
  Object.entries(FAULTS).map(([fault, what]) => ({
    name: `${one.operation}: ${one.call} ${fault}`,
    operation: one.operation,
    call: one.call,
    fault: what,
    rules: [...(one.first ? [one.first] : []), { ...one.rule, fault: what }],
  })),
);

/** Every call once, and every fault at least once. */
export const FAULT_SAMPLE: readonly FaultCase[] = CALLS.flatMap(
  (_, nth) => ALL_FAULT_CASES[nth * Object.keys(FAULTS).length + (nth % 7)] ?? [],
);
