import { peek } from 'bun';
import type { Counter, Histogram, Metrics } from '../lib/metrics.ts';
import { ApiError, ERRORS, type ErrorName } from '../model/errors.ts';
import type {
  ConnectedWallet,
  NodeConnector,
  UpdateBatch,
  UpdatesOptions,
  WalletNode,
} from './node.ts';

/** Upper bounds of the buckets, in seconds: from calls in this process to payments that search a route. */
const BUCKETS_SECS = [0.001, 0.01, 0.1, 1, 10, 60];

/** The asynchronous methods of a group; of a group that is one of several kinds, those of all kinds. */
type Asynchronous<Group> = Group extends unknown
  ? {
      [Name in keyof Group]-?: Group[Name] extends (...args: never[]) => Promise<unknown>
        ? Name
        : never;
    }[keyof Group]
  : never;
type Core = Asynchronous<WalletNode>;
type Group = Exclude<keyof WalletNode, Core | 'descriptor' | 'clock' | 'repeatsSafely' | 'updates'>;

/** The methods of the port that are timed. The types make the compiler find a missing one. */
const CORE: Readonly<Record<Core, true>> = {
  info: true,
  createInvoice: true,
  cancelInvoice: true,
  newestAttempt: true,
  payInvoice: true,
  sendOutcome: true,
  estimateRoutingFeeMsat: true,
  payment: true,
  latestPayment: true,
};
const GROUPS: {
  readonly [Name in Group]: Readonly<Record<Asynchronous<NonNullable<WalletNode[Name]>>, true>>;
} = {
  history: { tip: true, updatedAfter: true, putAwaiting: true },
  notes: { setPersonalNote: true },
  offers: { createOffer: true, fetchInvoice: true, payFetched: true, payOffer: true },
  spontaneous: { pay: true },
  holdInvoices: { create: true, settle: true },
  onchain: {
    nextUnusedAddress: true,
    sign: true,
    publish: true,
    renew: true,
    release: true,
    mostSendable: true,
    bumpFeeBoundMsat: true,
    bumpFee: true,
    estimateFeeMsat: true,
  },
  channels: {
    listChannels: true,
    openFeeBoundMsat: true,
    openChannel: true,
    closeFeeBoundMsat: true,
    closeChannel: true,
  },
  tokens: { issue: true, revoke: true, list: true },
  proofs: { proofMaterial: true, createProof: true },
};

/** The methods of a connector that open wallets, and the others that are timed. */
const OPENING = {
  connectConfigured: true,
  connectClient: true,
  connectOwner: true,
  connectRoot: true,
} as const;
const SET_UP = { signup: true, provision: true } as const;

type Opening = (...args: never[]) => Promise<ConnectedWallet>;
type Call = (...args: never[]) => Promise<unknown>;
/** Times a call, which is made on `self`, and returns its result unchanged. */
type Timing = <Timed extends Call>(call: Timed, self?: object) => Timed;
type Timings = ReadonlyMap<PropertyKey, Timing>;

/**
 * Registers metrics of how long calls of nodes take and which errors they end in. The returned function wraps a
 * connector so that its calls, and those of its wallets, are measured; a broken stream of updates counts as an error.
 */
export function measuredNodes(
  metrics: Metrics,
  elapsedMs: () => number,
): (connector: NodeConnector) => NodeConnector {
  const durations = metrics.histogram({
    name: 'wallet_sidecar_node_call_duration_seconds',
    help: 'Time until the wallet node answered a call, by the method of the node port.',
    labels: ['method'],
    buckets: BUCKETS_SECS,
  });
  const failed = errorCounter(metrics);
  const timingOf = (method: string) => timing(durations({ method }), failed, elapsedMs);
  const core = timingsOf(CORE, timingOf);
  const groups = new Map<PropertyKey, ProxyHandler<object>>();
  for (const [name, methods] of Object.entries(GROUPS)) {
    const timings = timingsOf(methods, (method) => timingOf(`${name}.${method}`));
    groups.set(name, { get: (group, method) => timedMember(group, method, timings) });
  }
  const nodes: ProxyHandler<WalletNode> = {
    get(node, name) {
      const group = groups.get(name);
      const member = timedMember(node, name, core);
      if (group && typeof member === 'object') return new Proxy(member, group);
      if (name !== 'updates') return member;
      return (options: UpdatesOptions) => countingBreaks(() => node.updates(options), failed);
    },
  };

  const measuredWallet = (wallet: ConnectedWallet): ConnectedWallet => ({
    ...wallet,
    node: new Proxy(wallet.node, nodes),
  });
  const opening = timingsOf(OPENING, timingOf);
  const setUp = timingsOf(SET_UP, timingOf);
  return (connector) =>
    new Proxy(connector, {
      get(target, name) {
        const open = timedMember(target, name, opening);
        if (!opening.has(name)) return timedMember(target, name, setUp);
        return async (...of: never[]) => measuredWallet(await (open as Opening)(...of));
      },
    });
}

/** Counts errors of calls by code. One without a code counts as error 6, as callers see it. */
function errorCounter(metrics: Metrics): (error: unknown) => void {
  const family = metrics.counter({
    name: 'wallet_sidecar_node_errors_total',
    help: 'Errors of calls of the wallet node, by the error code that answers show.',
    labels: ['code'],
  });
  const byKind = new Map<ErrorName, Counter>();
  for (const kind of Object.keys(ERRORS) as ErrorName[]) {
    byKind.set(kind, family({ code: String(ERRORS[kind].code) }));
  }
  return (error) => byKind.get(error instanceof ApiError ? error.kind : 'internal')?.inc();
}

function timingsOf(
  methods: Readonly<Record<string, true>>,
  timingOf: (method: string) => Timing,
): Timings {
  return new Map(Object.keys(methods).map((method) => [method, timingOf(method)]));
}

function timing(
  duration: Histogram,
  failed: (error: unknown) => void,
  elapsedMs: () => number,
): Timing {
  const answered = (startedMs: number) => duration.observe((elapsedMs() - startedMs) / 1000);
  const failedAt = (startedMs: number, error: unknown) => {
    answered(startedMs);
    failed(error);
  };
  return <Timed extends Call>(call: Timed, self?: object) => {
    const timed = (...args: Parameters<Timed>) => {
      const startedMs = elapsedMs();
      try {
        const answer = call.apply(self, args);
        // Most results of a node in this process are there at once, and waiting for them would take longer than the
        // call.
        if (peek.status(answer) === 'fulfilled') answered(startedMs);
        else
          void answer.then(
            () => answered(startedMs),
            (error) => failedAt(startedMs, error),
          );
        return answer;
      } catch (error) {
        failedAt(startedMs, error);
        throw error;
      }
    };
    return timed as Timed;
  };
}

/**
 * A member of the target, timed if it is a method with a timing. A function is made for each use, because one for each
 * method of each wallet takes more memory than all else that a wallet holds.
 */
function timedMember<T extends object>(target: T, name: PropertyKey, timings: Timings) {
  const member = target[name as keyof T];
  const time = member && timings.get(name);
  return time ? time(member as Call, target) : member;
}

async function* countingBreaks(
  open: () => AsyncIterable<UpdateBatch>,
  failed: (error: unknown) => void,
): AsyncGenerator<UpdateBatch> {
  try {
    yield* open();
  } catch (error) {
    failed(error);
    throw error;
  }
}
