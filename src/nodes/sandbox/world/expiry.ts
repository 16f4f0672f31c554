import { PAYMENT_KEY, type PaymentKey, updatePayment } from './payments.ts';
import { allRows, firstRow } from './rows.ts';
import { AGAIN_MS, unattended } from './unattended.ts';
import type { World } from './world.ts';

/** Makes payments of invoices failed when they expire unpaid. */
export type ExpirySweeper = ReturnType<typeof startExpirySweeper>;

/** The sweeper runs at least this often while invoices are open, so that it notices a jump of the machine's clock. */
const LONGEST_SLEEP_MS = 60_000;
const EXPIRING = `payments INDEXED BY payments_expiring
  WHERE expires_ms IS NOT NULL AND status = 'pending'`;

/** Starts the sweeper and sweeps once. */
export function startExpirySweeper(world: World) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let armedFor = Number.POSITIVE_INFINITY;

  /** Must be called after the clock was moved. */
  function sweep(): void {
    expireDue(world);
    const next = nextExpiryMs(world);
    if (next !== null) created(next);
  }

  /** Must be called after an invoice was created. */
  function created(expiresAtMs: number): void {
    if (expiresAtMs >= armedFor) return;
    armedFor = expiresAtMs;
    wakeIn(expiresAtMs - world.clock.now());
  }

  function wakeIn(delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        armedFor = Number.POSITIVE_INFINITY;
        if (!unattended(world, sweep)) wakeIn(AGAIN_MS);
      },
      Math.min(Math.max(delayMs, 1), LONGEST_SLEEP_MS),
    );
  }

  sweep();
  return { sweep, created, close: () => clearTimeout(timer) };
}

function expireDue(world: World): void {
  const sql = `SELECT ${PAYMENT_KEY} FROM ${EXPIRING} AND expires_ms <= ?`;
  const due = allRows<PaymentKey>(world, sql, world.clock.now());
  if (due.length === 0) return;
  world.transact(() => {
    for (const { userPk, index } of due) {
      updatePayment(world, userPk, index, { status: 'failed', statusMsg: 'expired' });
    }
  });
}

function nextExpiryMs(world: World): number | null {
  const sql = `SELECT min(expires_ms) AS next FROM ${EXPIRING}`;
  return firstRow<{ next: number | null }>(world, sql)?.next ?? null;
}
