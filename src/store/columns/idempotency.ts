import type { PaymentIndex } from '../../model/payment-index.ts';
import type { IdempotencyState } from '../ports.ts';

/** A row of the idempotency table, the same in both engines. Truth values are 0 and 1. */
export interface KeyRow {
  readonly wallet: string;
  readonly caller: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly idx: PaymentIndex | null;
  readonly effect: string | null;
  readonly subject: string | null;
  readonly http_status: number | null;
  readonly body: string | null;
  readonly gone: number;
  readonly created_at: number;
  readonly any_caller: number;
}

/** Returns the row of a key that was not used before. */
export function newKeyRow(
  { walletId: wallet, caller, key }: { walletId: string; caller: string; key: string },
  fingerprint: string,
  nowMs: number,
): KeyRow {
  return {
    wallet,
    caller,
    key,
    fingerprint,
    idx: null,
    effect: null,
    subject: null,
    http_status: null,
    body: null,
    gone: 0,
    created_at: nowMs,
    any_caller: 0,
  };
}

/** Returns the row bound to the payment that its request makes. */
export const boundTo = (row: KeyRow, idx: PaymentIndex): KeyRow => ({ ...row, idx });

/** Undoes {@link boundTo}, where it is still bound to that payment. It is then no other caller's any more. */
export const unboundFrom = (row: KeyRow, idx: PaymentIndex): KeyRow =>
  row.idx === idx ? { ...row, idx: null, any_caller: 0 } : row;

/** Returns the row without its outcome, since the client whose credentials that holds was revoked. */
export const gone = (row: KeyRow): KeyRow => ({ ...row, gone: 1, http_status: null, body: null });

/** Returns the row with the name of its effect, and with the payment that it is about where there is one. */
export const named = (row: KeyRow, effect: string, idx: PaymentIndex | null): KeyRow => ({
  ...row,
  effect,
  idx: idx ?? row.idx,
});

/** Returns the row with its outcome. */
export function finished(
  row: KeyRow,
  { httpStatus, body, subject }: { httpStatus: number; body: string; subject: string | null },
  isSubjectRevoked: boolean,
): KeyRow {
  const done = { ...row, subject, gone: 0, http_status: httpStatus, body };
  return isSubjectRevoked ? gone(done) : done;
}

/** Undoes {@link named}. A key stays bound to a spend that is not over, even where its request had named nothing. */
export function unnamed(row: KeyRow, isSpendOpen: boolean): KeyRow {
  if (row.body !== null || row.gone === 1) return row;
  return { ...row, effect: null, idx: isSpendOpen ? row.idx : null };
}

/** Whether nothing came of the key's request, so that the key may be used again. */
export function isFree({ idx, effect, body, gone }: KeyRow): boolean {
  return idx === null && effect === null && body === null && gone === 0;
}

/** Returns the state of a used key for a request with one of these fingerprints. */
export function stateOf(
  row: KeyRow,
  fingerprints: readonly (string | undefined)[],
): IdempotencyState {
  if (!fingerprints.includes(row.fingerprint)) return { state: 'conflict' };
  if (row.gone === 1) return { state: 'gone' };
  const whose = row.any_caller === 1 ? { ofAnyCaller: true as const } : {};
  if (row.http_status !== null && row.body !== null) {
    return { state: 'done', httpStatus: row.http_status, body: row.body, ...whose };
  }
  return { state: 'running', index: row.idx, effect: row.effect, ...whose };
}
