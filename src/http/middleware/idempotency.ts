import { createHash } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Log } from '../../lib/log.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError, refused, rejected } from '../../model/errors.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { IdempotencyState, IdempotencyStore, KeyScope } from '../../store/ports.ts';
import { tellingSent } from '../../wallet/session/telling-sent.ts';
import type { KeyOutcome } from '../sight-of-outcome.ts';
import { isSealed, seal, unseal } from './sealed-outcome.ts';

/** The parts of an answer that are kept for repeats of its request. */
export interface Outcome {
  readonly httpStatus: number;
  /** JSON text. */
  readonly body: string;
}

interface IdempotentRequest {
  readonly scope: KeyScope;
  /** Equal for equal requests; {@link fingerprint} makes it. */
  readonly fingerprint: string;
  /**
   * The fingerprint that earlier versions gave the same request: they did not know its other spellings, and kept what
   * was sent as null.
   */
  readonly earlierFingerprint: string;
  readonly nowMs: number;
  /** Milliseconds after which `Prefer` asks for an answer; null waits for the outcome. */
  readonly respondAfterMs: number | null;
  /** Whether error 4 answers a request whose time is over and which goes on: it has nothing to show before. */
  readonly endsWait: boolean;
  /** The key that encrypts and decrypts outcomes with a secret. */
  readonly sealKey: Uint8Array;
  /** Returns the client whose secret an outcome holds; null when it holds none. */
  readonly subjectOf: (body: string) => string | null;
  /** Whether that client is still active, so that its secret may be answered again. */
  readonly isSubjectActive: (clientPk: string) => Promise<boolean>;
  /** Throws `forbidden` when the caller no longer has the permission to see the outcome. */
  readonly requireGrant: (body: string) => void;
  /**
   * Throws error 106 when the outcome is a payment that the caller may not see. Asked where it is not known whose the
   * key is (docs/decisions.md 148).
   */
  readonly requireSight: (outcome: KeyOutcome) => Promise<void>;
  /** Compares the sends that an earlier process left unfinished with the node. */
  readonly ready: () => Promise<void>;
  /** Runs the request. `effect` is the name of the effect that an earlier run stored; null if there is none. */
  readonly execute: (effect: string | null) => Promise<Outcome>;
  /**
   * Returns the outcome of a payment that an earlier run of the request began; null when the node has refused that
   * payment just now, so that there is none.
   */
  readonly resume: (index: PaymentIndex) => Promise<Outcome | null>;
}

/** The only status that is final for a key; 202 is not (docs/decisions.md 51). */
const FINAL = 200;

/**
 * Runs a request with an Idempotency-Key at most once. A repeat gets the first outcome: also while the first request is
 * still running, after a restart, and after a kill at any instruction. Another request with the same key is error 111
 * (docs/decisions.md 49). An error raised before anything was sent releases the key.
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
    const id = nameOf(request.scope);
    const running = this.#running.get(id);
    if (running) {
      if (running.fingerprint !== request.fingerprint) throw keyConflict();
      return this.#join(request, running.outcome);
    }
    const outcome = this.#run(request).finally(() => this.#running.delete(id));
    this.#running.set(id, { fingerprint: request.fingerprint, outcome });
    return request.endsWait ? this.#inTime(request, outcome) : outcome;
  }

  /** Whether a request with that key is running, or has left something behind. */
  async isUsed(scope: KeyScope): Promise<boolean> {
    return this.#running.has(nameOf(scope)) || (await this.#store.isUsed(scope));
  }

  /**
   * Returns the outcome of the request that is still running, or the payment as it stands when this request's `Prefer`
   * asks for an answer. If the first request asked for a 202, this one still waits as its own `Prefer` says.
   */
  async #join(request: IdempotentRequest, outcome: Promise<Outcome>): Promise<Outcome> {
    if (request.endsWait) return this.#inTime(request, outcome);
    const first = await withinPatience(request, outcome);
    if (first) return first.httpStatus === FINAL ? first : this.run(request);
    const state = await this.#claim(request);
    if (state.state !== 'running' || state.index === null) return outcome;
    return (await resumed(request, state.index, state.ofAnyCaller)) ?? outcome;
  }

  /**
   * Returns the outcome, or throws error 4 when the request's `Prefer` asks for an answer before there is one. It names
   * the payment that was begun, which may wait for approval.
   */
  async #inTime(request: IdempotentRequest, outcome: Promise<Outcome>): Promise<Outcome> {
    const inTime = await withinPatience(request, outcome);
    if (inTime !== null) return inTime;
    const state = await this.#claim(request);
    const index = state.state === 'running' ? state.index : null;
    const until = index ? ', or waits for the approval of its payment' : '';
    throw new ApiError(
      'timeout',
      `There is no outcome yet, and the request goes on${until}: repeat it with the same Idempotency-Key.`,
      { data: { sent: 'unknown', ...(index && { index }) } },
    );
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
      case 'done': {
        const opened = await this.#opened(request, state);
        if (state.ofAnyCaller) await request.requireSight(opened);
        return opened;
      }
      case 'new':
        return this.#finish(request, () => request.execute(null));
      case 'running': {
        const { index, effect, ofAnyCaller } = state;
        return this.#finish(request, async () => {
          const resumable = index === null || effect !== null ? null : index;
          const resume = resumable && (await resumed(request, resumable, ofAnyCaller));
          return resume ?? request.execute(effect);
        });
      }
    }
  }

  /** Returns the state of the key after the unfinished sends of an earlier process have been compared with the node. */
  async #settled(request: IdempotentRequest): Promise<IdempotencyState> {
    const state = await this.#claim(request);
    if (state.state !== 'running' || state.index === null) return state;
    await tellingSent('unknown', request.ready, state.index);
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

function nameOf({ walletId, caller, key }: KeyScope): string {
  return `${walletId} ${caller} ${key}`;
}

/** Returns the outcome; null when the request's `Prefer` asks for an answer before there is one. */
async function withinPatience(
  { respondAfterMs }: IdempotentRequest,
  outcome: Promise<Outcome>,
): Promise<Outcome | null> {
  if (respondAfterMs === null) return outcome;
  // Where nobody waits for it any more, its error is the next repeat's.
  outcome.catch(() => undefined);
  const stop = new AbortController();
  try {
    return await Promise.race([outcome, sleep(respondAfterMs, stop.signal).then(() => null)]);
  } finally {
    stop.abort();
  }
}

async function resumed(
  request: IdempotentRequest,
  index: PaymentIndex,
  ofAnyCaller = false,
): Promise<Outcome | null> {
  if (ofAnyCaller) await request.requireSight({ index });
  const outcome = await request.resume(index);
  if (outcome !== null) request.requireGrant(outcome.body);
  return outcome;
}

/** The form of an Idempotency-Key: 1 to 255 printable ASCII characters (docs/decisions.md 49). */
export const IDEMPOTENCY_KEY = /^[ -~]{1,255}$/;

/** Returns the value of an Idempotency-Key header; null when there is none. Throws error 7 for any other form. */
export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (IDEMPOTENCY_KEY.test(header)) return header;
  throw rejected('Idempotency-Key', 'must be 1 to 255 printable ASCII characters');
}

/** Returns the key that a request to the route can have used; null when it has none, or one of another form. */
export function usableKey(
  { takesKey }: { readonly takesKey?: boolean | undefined },
  headers: Headers,
): string | null {
  const header = takesKey ? headers.get('idempotency-key') : null;
  return header !== null && IDEMPOTENCY_KEY.test(header) ? header : null;
}

/** Returns a hash that is equal exactly for requests of equal route, query and body, in any order of members. */
export function fingerprint(...parts: readonly unknown[]): string {
  return createHash('sha256').update(canonicalJson(parts)).digest('hex');
}

function keyConflict(): ApiError {
  return new ApiError(
    'idempotencyConflict',
    'This Idempotency-Key was used for a different request: give each request a key of its own, and repeat one as it was.',
  );
}

function outcomeGone(): ApiError {
  return refused(
    'The client that this request created is revoked or has expired, so its credentials are not shown again: use a new Idempotency-Key to create another client.',
  );
}
