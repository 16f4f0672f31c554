import { elapsedMs } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError, isApiError } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';
import type { Observation, UpdateBatch, UpdatesOptions } from '../node.ts';
import { type FollowCursor, readCursor, writeCursor } from './cursor.ts';
import { type Holds, openHolds } from './holds.ts';
import { LABELED_WITHIN_MS } from './label-grace.ts';
import { reconcile } from './reconcile.ts';
import { isMissingAtLnd } from './refusal.ts';
import type { LndRest } from './rest.ts';
import { SpendWatch } from './spends.ts';
import { invoiceObservations, outboundObservation } from './translate.ts';
import type { LndWallet } from './wallet.ts';
import { blockShape, invoiceShape, paymentShape, transactionShape } from './wire.ts';

/** After subscribing, the lists are read once more this much later, because LND may begin to listen late. */
const SETTLED_IN_MS = 1000;
/** LND cancels an unpaid invoice within this time after its expiry. */
const CANCELED_WITHIN_MS = 10_000;
/** How often unfinished payments are read again, in case a stream left out a change. */
const LOOK_AGAIN_MS = 30_000;
/** How often they are read again while more hold invoices are open than are followed. */
const HOLDS_LEFT_OUT_MS = 5000;
/** LND sends its newest block at once after subscribing. */
const BLOCK_WITHIN_MS = 30_000;
/** The longest silence of the stream of blocks. No block takes as long, and opening the feed again loses nothing. */
const BLOCK_SILENCE_MS = 6 * 3_600_000;

/**
 * Follows the updates of a wallet; see `WalletNode.updates`. LND's streams have no common cursor, so its lists and
 * every unfinished payment are read beside them: at the start, after each block and every 30 seconds
 * (docs/decisions.md 82). Repeats are frequent and harmless. Throws when any stream ends, because LND ends its streams
 * in different ways when it stops.
 */
export async function* followWallet(
  rest: LndRest,
  wallet: LndWallet,
  options: UpdatesOptions,
): AsyncGenerator<UpdateBatch> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, wallet.closed, stop.signal]);
  const cursor = readCursor(options.after);
  const inbox = new Inbox();
  const holds = openHolds({ rest, wallet, add: inbox.add, signal });
  const unsubscribe = wallet.local.subscribe({
    changed: inbox.add,
    look: inbox.requestLook,
    hold: holds.follow,
  });
  for (const follow of [followInvoices, followPayments, followTransactions, followBlocks]) {
    follow({ rest, wallet, cursor, inbox, signal }).then(
      () => inbox.fail(disconnected()),
      (error) => {
        // This LND was built without that stream, or the macaroon may not follow it. The reads of the lists cover it as
        // far as they may.
        if (!isMissingAtLnd(error) && !isApiError(error, 'forbidden')) inbox.fail(error);
      },
    );
  }
  const spends = new SpendWatch(rest, signal, inbox.requestLook);
  let told = options.after;
  const look = async function* (caughtUp: boolean): AsyncGenerator<UpdateBatch> {
    const scope = { rest, wallet, cursor, spends, open: options.open, onHold: holds.follow };
    for await (const observations of reconcile(scope)) {
      if (observations.length === 0) continue;
      yield { observations, cursor: writeCursor(cursor), caughtUp: false };
    }
    // A cursor that has not advanced need not be stored again.
    const now = writeCursor(cursor);
    if (caughtUp || now !== told) yield { observations: [], cursor: now, caughtUp };
    told = now;
  };
  try {
    yield* look(true);
    let lookAtMs = elapsedMs() + SETTLED_IN_MS;
    while (!signal.aborted) {
      await inbox.wait(lookAtMs - elapsedMs(), signal);
      const observations = inbox.take();
      if (observations.length > 0) yield { observations, cursor: null, caughtUp: false };
      if (inbox.wanted === 'soon') lookAtMs = Math.min(lookAtMs, elapsedMs() + SETTLED_IN_MS);
      if (inbox.wanted === 'now' || elapsedMs() >= lookAtMs) {
        inbox.wanted = null;
        yield* look(false);
        lookAtMs = elapsedMs() + (await untilNextLook(wallet, options, holds));
      }
    }
  } finally {
    stop.abort();
    unsubscribe();
  }
}

/** Milliseconds until the lists must be read again, if no stream asks for it earlier. */
async function untilNextLook(
  wallet: LndWallet,
  { open }: UpdatesOptions,
  holds: Holds,
): Promise<number> {
  const mostMs = holds.takeLeftOut() ? HOLDS_LEFT_OUT_MS : LOOK_AGAIN_MS;
  if (wallet.labels.waiting) return LABELED_WITHIN_MS;
  const nowMs = wallet.clock.now();
  return (await open()).reduce(
    (least, payment) => Math.min(least, untilWorthALook(payment, nowMs)),
    mostMs,
  );
}

/**
 * Milliseconds until an unfinished payment must be read again. LND cancels an expired invoice some time after its
 * expiry and its streams do not report it. An invoice whose HTLC is held stays open past its expiry.
 */
function untilWorthALook({ direction, expiresAtMs }: Payment, nowMs: number): number {
  if (direction !== 'inbound' || expiresAtMs === null) return LOOK_AGAIN_MS;
  if (nowMs > expiresAtMs + CANCELED_WITHIN_MS) return LOOK_AGAIN_MS;
  return Math.max(expiresAtMs - nowMs, 0) + SETTLED_IN_MS;
}

interface Following {
  readonly rest: LndRest;
  readonly wallet: LndWallet;
  readonly cursor: FollowCursor;
  readonly inbox: Inbox;
  readonly signal: AbortSignal;
}

async function followInvoices({ rest, wallet, cursor, inbox, signal }: Following): Promise<void> {
  // Asks for at least one earlier invoice, whose arrival shows that LND listens.
  const query = `add_index=${Math.max(cursor.addIndex - 1, 0)}&settle_index=${cursor.settleIndex}`;
  const path = `/v1/invoices/subscribe?${query}`;
  // Most new invoices were made by the sidecar and are stored already; the next read of the list finds the others.
  const isSettled = (line: string) => {
    const isNew = line.includes('"state":"OPEN"');
    if (isNew) inbox.requestLookSoon();
    return !isNew;
  };
  const settled = rest.stream('GET', path, undefined, invoiceShape, signal, {
    isWanted: isSettled,
  });
  for await (const invoice of settled) {
    cursor.settleIndex = Math.max(cursor.settleIndex, invoice.settle_index);
    inbox.add(invoiceObservations(invoice, wallet.clock.now()));
  }
}

async function followPayments({ rest, wallet, inbox, signal }: Following): Promise<void> {
  const path = '/v2/router/payments';
  for await (const payment of rest.stream('GET', path, undefined, paymentShape, signal)) {
    inbox.add([outboundObservation(payment, wallet.clock.now())]);
  }
}

/** LND may report a transaction before it puts its label on it, so the transaction is read from the list. */
async function followTransactions({ rest, inbox, signal }: Following): Promise<void> {
  const path = '/v1/transactions/subscribe';
  for await (const _ of rest.stream('GET', path, undefined, transactionShape, signal)) {
    inbox.requestLook();
  }
}

/** Each block adds a confirmation, but the stream of transactions reports only the first one. */
async function followBlocks({ rest, inbox, signal }: Following): Promise<void> {
  const path = '/v2/chainnotifier/register/blocks';
  const blocks = rest.stream('POST', path, {}, blockShape, signal, {
    headWithinMs: BLOCK_WITHIN_MS,
    silenceMs: BLOCK_SILENCE_MS,
  });
  for await (const _ of blocks) inbox.requestLook();
}

function disconnected(): ApiError {
  return new ApiError('unreachable', 'LND ended a stream of updates.');
}

/** Collects what the streams and this process report, until the feed takes it. */
class Inbox {
  /** Whether the lists must be read again; the feed resets it. */
  wanted: 'now' | 'soon' | null = null;
  #observations: Observation[] = [];
  #failure: { readonly error: unknown } | null = null;
  #arrived = Promise.withResolvers<void>();

  readonly add = (observations: readonly Observation[]): void => {
    this.#observations.push(...observations);
    this.#arrived.resolve();
  };

  readonly requestLook = (): void => {
    this.wanted = 'now';
    this.#arrived.resolve();
  };

  readonly requestLookSoon = (): void => {
    // One request is enough. Otherwise every new invoice would wake the feed.
    if (this.wanted !== null) return;
    this.wanted = 'soon';
    this.#arrived.resolve();
  };

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#arrived.resolve();
  }

  /** Resolves when something arrives, after `ms`, or when `signal` aborts. Throws the error that ended a stream. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const timer = new AbortController();
    await Promise.race([
      this.#arrived.promise,
      sleep(Math.max(ms, 0), AbortSignal.any([signal, timer.signal])),
    ]);
    timer.abort();
    if (this.#failure && this.#observations.length === 0) throw this.#failure.error;
  }

  take(): Observation[] {
    const taken = this.#observations;
    this.#observations = [];
    if (!this.#failure) this.#arrived = Promise.withResolvers();
    return taken;
  }
}
