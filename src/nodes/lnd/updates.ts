import { elapsedMs } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError, isApiError } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';
import type { Observation, UpdateBatch, UpdatesOptions } from '../node.ts';
import { type FollowCursor, readCursor, writeCursor } from './cursor.ts';
import { LABELED_WITHIN_MS } from './label-grace.ts';
import { reconcile } from './reconcile.ts';
import { isUnknownToLnd, refusalText } from './refusal.ts';
import type { LndRest } from './rest.ts';
import { invoiceObservations, outboundObservation } from './translate.ts';
import type { LndWallet } from './wallet.ts';
import { blockShape, invoiceShape, paymentShape, transactionShape } from './wire.ts';

/** LND may begin to listen a little after a subscription was sent; what fell in between is looked for then. */
const SETTLED_IN_MS = 1000;
/** Within this time after its expiry LND has canceled an invoice that nobody has paid. */
const CANCELED_WITHIN_MS = 10_000;
/** How often unfinished payments are looked at again, should a stream have kept something from us. */
const LOOK_AGAIN_MS = 30_000;
/** LND tells of its newest block at once. */
const BLOCK_WITHIN_MS = 30_000;
/** No block takes so long; a feed that is opened anew loses nothing. */
const BLOCK_SILENCE_MS = 6 * 3_600_000;

/**
 * The updates of a wallet (see the port): LND's streams, which have no common cursor, and beside them its lists and
 * every unfinished payment, read when the feed opens, after each block and once in a while. Repeats are many and
 * harmless. Throws when any stream ends, cleanly or not: LND ends them in all ways when it stops.
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
  const unsubscribe = wallet.local.subscribe({ changed: inbox.add, look: inbox.requestLook });
  for (const follow of [followInvoices, followPayments, followTransactions, followBlocks]) {
    follow({ rest, wallet, cursor, inbox, signal }).then(
      () => inbox.fail(disconnected()),
      (error) => {
        // What this LND was built without, or the macaroon may not follow, is told by the looks, as far as they may.
        if (!isMissing(error) && !isApiError(error, 'forbidden')) inbox.fail(error);
      },
    );
  }
  let told = options.after;
  const look = async function* (caughtUp: boolean): AsyncGenerator<UpdateBatch> {
    const scope = { rest, wallet, cursor, open: options.open };
    for await (const observations of reconcile(scope)) {
      if (observations.length === 0) continue;
      yield { observations, cursor: writeCursor(cursor), caughtUp: false };
    }
    // A cursor that has not moved need not be written again.
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
        lookAtMs = elapsedMs() + (await untilNextLook(wallet, options));
      }
    }
  } finally {
    stop.abort();
    unsubscribe();
  }
}

/** How long nothing needs a look, milliseconds, if no stream says otherwise. */
async function untilNextLook(wallet: LndWallet, { open }: UpdatesOptions): Promise<number> {
  if (wallet.labels.waiting) return LABELED_WITHIN_MS;
  const nowMs = wallet.clock.now();
  return (await open()).reduce(
    (least, payment) => Math.min(least, untilWorthALook(payment, nowMs)),
    LOOK_AGAIN_MS,
  );
}

/**
 * When an unfinished payment should be looked at: LND cancels what has expired some time after, and tells nobody. One
 * whose HTLC is held outlives its expiry by as long as its holder likes.
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
  // One item of backlog at least: it shows that LND listens.
  const query = `add_index=${Math.max(cursor.addIndex - 1, 0)}&settle_index=${cursor.settleIndex}`;
  const path = `/v1/invoices/subscribe?${query}`;
  // A new invoice is most often the sidecar's own, which is stored already; others are told by the next look.
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

/** A transaction may be told of before LND has put its label on it, so it is read from the list. */
async function followTransactions({ rest, inbox, signal }: Following): Promise<void> {
  const path = '/v1/transactions/subscribe';
  for await (const _ of rest.stream('GET', path, undefined, transactionShape, signal)) {
    inbox.requestLook();
  }
}

/** Each block confirms transactions once more, of which the transaction stream says nothing after the first. */
async function followBlocks({ rest, inbox, signal }: Following): Promise<void> {
  const path = '/v2/chainnotifier/register/blocks';
  const blocks = rest.stream('POST', path, {}, blockShape, signal, {
    headWithinMs: BLOCK_WITHIN_MS,
    silenceMs: BLOCK_SILENCE_MS,
  });
  for await (const _ of blocks) inbox.requestLook();
}

function isMissing(error: unknown): boolean {
  return !isUnknownToLnd(error) && refusalText(error) === 'Not Found';
}

function disconnected(): ApiError {
  return new ApiError('unreachable', 'LND ended a stream of updates.');
}

/** What the streams brought and nobody has taken yet. */
class Inbox {
  /** Whether somebody asked for a look; it is for the reader to put back. */
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
    // Once is enough: where many invoices are made, each would wake the reader.
    if (this.wanted !== null) return;
    this.wanted = 'soon';
    this.#arrived.resolve();
  };

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#arrived.resolve();
  }

  /** Resolves when something has arrived, after `ms` or when `signal` aborts. Throws what a stream failed with. */
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
