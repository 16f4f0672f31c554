import { createHash } from 'node:crypto';
import { ApiError, rejected } from '../../model/errors.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { IdempotencyStore } from '../../store/ports.ts';

/** What an answer consists of, so that it can be given again. */
export interface Outcome {
  readonly httpStatus: number;
  /** JSON text. */
  readonly body: string;
}

interface IdempotentRequest {
  readonly walletId: string;
  readonly key: string;
  /** Equal for equal requests: {@link fingerprint}. */
  readonly fingerprint: string;
  readonly nowMs: number;
  readonly execute: () => Promise<Outcome>;
  /** The outcome of a payment that an earlier run of the request began. */
  readonly resume: (index: PaymentIndex) => Promise<Outcome>;
}

/**
 * Runs a request with an Idempotency-Key at most once: a repeat gets the first outcome, also while the first is
 * still running and after a restart; another request with the same key is error 111 (decisions section 6). An error
 * raised before anything was sent releases the key.
 */
export class IdempotentRequests {
  readonly #store: IdempotencyStore;
  readonly #running = new Map<string, { fingerprint: string; outcome: Promise<Outcome> }>();

  constructor(store: IdempotencyStore) {
    this.#store = store;
  }

  run(request: IdempotentRequest): Promise<Outcome> {
    const id = `${request.walletId} ${request.key}`;
    const running = this.#running.get(id);
    if (running) {
      if (running.fingerprint !== request.fingerprint) return Promise.reject(keyConflict());
      return running.outcome;
    }
    const outcome = this.#run(request).finally(() => this.#running.delete(id));
    this.#running.set(id, { fingerprint: request.fingerprint, outcome });
    return outcome;
  }

  async #run(request: IdempotentRequest): Promise<Outcome> {
    const { walletId, key } = request;
    const state = await this.#store.begin(walletId, key, request.fingerprint, request.nowMs);
    if (state.state === 'conflict') throw keyConflict();
    if (state.state === 'done') return { httpStatus: state.httpStatus, body: state.body };
    const begun = state.state === 'running' ? state.index : null;
    try {
      const outcome = await (begun === null ? request.execute() : request.resume(begun));
      await this.#store.finish(walletId, key, outcome);
      return outcome;
    } catch (error) {
      await this.#store.release(walletId, key);
      throw error;
    }
  }
}

/** Checks an Idempotency-Key header: 1 to 255 printable ASCII characters (decisions section 6). */
export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (/^[\x20-\x7e]{1,255}$/.test(header)) return header;
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
    'This Idempotency-Key was used for a different request: use a new key.',
  );
}
