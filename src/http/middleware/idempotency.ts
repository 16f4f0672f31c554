import { createHash } from 'node:crypto';
import type { Log } from '../../lib/log.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError, isApiError, refused, rejected } from '../../model/errors.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { IdempotencyState, IdempotencyStore, KeyScope } from '../../store/ports.ts';
import { isSealed, seal, unseal } from './sealed-outcome.ts';

/** What an answer consists of, so that it can be given again. */
export interface Outcome {
  readonly httpStatus: number;
  /** JSON text. */
  readonly body: string;
}

interface IdempotentRequest {
  readonly scope: KeyScope;
  /** Equal for equal requests: {@link fingerprint}. */
  readonly fingerprint: string;
  /** The fingerprint that earlier versions gave the same request: they did not know its other spellings. */
  readonly earlierFingerprint: string;
  readonly nowMs: number;
  /** Gives the answer no later than after so many milliseconds, as the request's `Prefer` asks; null waits. */
  readonly respondAfterMs: number | null;
  /** Opens and closes outcomes that hold a secret. */
  readonly sealKey: Uint8Array;
  /** The client whose secret an outcome holds; null where it holds none. */
  readonly subjectOf: (body: string) => string | null;
  /** Whether that client may still be told of. */
  readonly isSubjectActive: (clientPk: string) => Promise<boolean>;
  /** Throws `forbidden` for an outcome that the caller may not have any more. */
  readonly requireGrant: (body: string) => void;
  /** Compares what an earlier process left unfinished with the node. */
  readonly ready: () => Promise<void>;
  /** Runs the request; `effect` is what an earlier run of it named. */
  readonly execute: (effect: string | null) => Promise<Outcome>;
  /** The outcome of a payment that an earlier run of the request began. */
  readonly resume: (index: PaymentIndex) => Promise<Outcome>;
}

/** Only an outcome with this status is final for its key; 202 is not (decisions section 6). */
const FINAL = 200;

/**
 * Runs a request with an Idempotency-Key at most once: a repeat gets the first outcome, also while the first is still
 * running, after a restart and after a kill at any instruction; another request with the same key is error 111
 * (decisions section 6). An error raised before anything was sent releases the key.
 */
export class IdempotentRequests {
  readonly #store: IdempotencyStore;
  readonly #log: Log;
  readonly #running = new Map<string, { fingerprint: string; outcome: Promise<Outcome> }>();

  constructor(store: IdempotencyStore, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  async run(request: IdempotentRequest): Promise<Outcome> {
    const { walletId, caller, key } = request.scope;
    const id = `${walletId} ${caller} ${key}`;
    const running = this.#running.get(id);
    if (running) {
      if (running.fingerprint !== request.fingerprint) throw keyConflict();
      return this.#join(request, running.outcome);
    }
    const outcome = this.#run(request).finally(() => this.#running.delete(id));
    this.#running.set(id, { fingerprint: request.fingerprint, outcome });
    return outcome;
  }

  /**
   * The outcome of the run that is under way, or the payment as it stands when this request's patience ends. A 202 was
   * what the first request asked for; this one goes on by its own `Prefer`.
   */
  async #join(request: IdempotentRequest, outcome: Promise<Outcome>): Promise<Outcome> {
    const first = await withinPatience(request, outcome);
    if (first) return first.httpStatus === FINAL ? first : this.run(request);
    const state = await this.#claim(request);
    return state.state === 'running' && state.index !== null
      ? resumed(request, state.index)
      : outcome;
  }

  #claim(request: IdempotentRequest): Promise<IdempotencyState> {
    const { scope, fingerprint, earlierFingerprint, nowMs } = request;
    return this.#store.begin(scope, fingerprint, nowMs, earlierFingerprint);
  }

  async #run(request: IdempotentRequest): Promise<Outcome> {
    const state = await this.#settled(request);
    switch (state.state) {
      case 'conflict':
        throw keyConflict();
      case 'gone':
        throw outcomeGone();
      case 'done':
        return this.#opened(request, state);
      case 'new':
        return this.#finish(request, () => request.execute(null));
      case 'running': {
        const { index, effect } = state;
        return this.#finish(request, () =>
          index === null || effect !== null ? request.execute(effect) : resumed(request, index),
        );
      }
    }
  }

  /** How the key stands once the sends of an earlier process were compared with the node. */
  async #settled(request: IdempotentRequest): Promise<IdempotencyState> {
    const state = await this.#claim(request);
    if (state.state !== 'running' || state.index === null) return state;
    try {
      await request.ready();
    } catch (error) {
      throw isApiError(error) ? error.with({ sent: 'unknown', index: state.index }) : error;
    }
    return this.#claim(request);
  }

  async #finish(request: IdempotentRequest, run: () => Promise<Outcome>): Promise<Outcome> {
    const { scope, sealKey } = request;
    const keptOrLogged = (work: Promise<void>) =>
      work.catch((error) => this.#log.warn('An Idempotency-Key could not be updated.', { error }));
    let outcome: Outcome;
    try {
      outcome = await run();
    } catch (error) {
      // A full disk must not take the place of what the caller has to know. A key that stays is gone on with.
      await keptOrLogged(this.#store.release(scope));
      throw error;
    }
    if (outcome.httpStatus !== FINAL) return outcome;
    const subject = request.subjectOf(outcome.body);
    const body = subject === null ? outcome.body : seal(outcome.body, sealKey, scope.key);
    // What has happened is told all the same: a repeat goes on with the payment or effect that the key names.
    await keptOrLogged(this.#store.finish(scope, { httpStatus: FINAL, body, subject }));
    return outcome;
  }

  async #opened(request: IdempotentRequest, { httpStatus, body }: Outcome): Promise<Outcome> {
    if (!isSealed(body)) {
      request.requireGrant(body);
      return { httpStatus, body };
    }
    const opened = unseal(body, request.sealKey, request.scope.key);
    const subject = opened === null ? null : request.subjectOf(opened);
    if (opened === null || subject === null) throw outcomeGone();
    if (!(await request.isSubjectActive(subject))) throw outcomeGone();
    return { httpStatus, body: opened };
  }
}

/** The outcome, or null when the request's patience ends before. */
async function withinPatience(
  { respondAfterMs }: IdempotentRequest,
  outcome: Promise<Outcome>,
): Promise<Outcome | null> {
  if (respondAfterMs === null) return outcome;
  const stop = new AbortController();
  try {
    return await Promise.race([outcome, sleep(respondAfterMs, stop.signal).then(() => null)]);
  } finally {
    stop.abort();
  }
}

async function resumed(request: IdempotentRequest, index: PaymentIndex): Promise<Outcome> {
  const outcome = await request.resume(index);
  request.requireGrant(outcome.body);
  return outcome;
}

/** An Idempotency-Key: 1 to 255 printable ASCII characters (decisions section 6). */
export const IDEMPOTENCY_KEY = /^[ -~]{1,255}$/;

/** Checks an Idempotency-Key header. */
export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (IDEMPOTENCY_KEY.test(header)) return header;
  throw rejected('Idempotency-Key', 'must be 1 to 255 printable ASCII characters');
}

/** Equal for two requests exactly when route, query and body values are equal, whatever the order of members. */
export function fingerprint(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts, sortMembers)).digest('hex');
}

function sortMembers(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function keyConflict(): ApiError {
  return new ApiError(
    'idempotencyConflict',
    'This Idempotency-Key was used for a different request: give each request a key of its own, and repeat one as it was.',
  );
}

function outcomeGone(): ApiError {
  return refused(
    'The client that this request created has ended, so its credentials are not given again: use a new Idempotency-Key to create another.',
  );
}
