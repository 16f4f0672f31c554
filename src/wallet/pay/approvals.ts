import { backoffDelayMs } from '../../lib/backoff.ts';
import type { KeyedLock } from '../../lib/keyed-lock.ts';
import type { Log } from '../../lib/log.ts';
import { type ClientRecord, isActive } from '../../model/clients/client.ts';
import { isGranted } from '../../model/clients/permissions.ts';
import { idOf, isFinal, NOT_APPROVED, type Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { WalletNode } from '../../nodes/node.ts';
import type { ObservationRules, Spend, Store } from '../../store/ports.ts';
import type { Feed } from '../follow/feed.ts';
import type { WaitingApprovals } from '../session/ports.ts';
import { permissionToPay } from './any.ts';

interface ApprovalsOptions {
  readonly walletId: string;
  readonly store: Pick<Store, 'spends' | 'clients'>;
  readonly feed: Pick<Feed, 'record' | 'observe' | 'emit'>;
  readonly locks: KeyedLock;
  readonly log: Log;
  readonly random: () => number;
  /** See {@link WaitingApprovals.waitMs}. */
  readonly approvalMs: number;
  readonly rules: Pick<ObservationRules, 'deliver'>;
  readonly onDelivery: () => void;
  /** The node as the wallet's best valid credential reaches it, or null when none is known. */
  readonly node: () => Promise<WalletNode | null>;
}

/** What waits is looked at this often, so that a jump of a clock is noticed, and a client that has expired. */
const LONGEST_SLEEP_MS = 60_000;
/** After a look that failed, as when the disk is full for a moment. */
const LOOK_AGAIN = { firstMs: 100, mostMs: LONGEST_SLEEP_MS, jitter: 0.5 };

/** The payments of a wallet that wait for approval, and the timer that ends them (docs/decisions.md 187). */
export class Approvals implements WaitingApprovals {
  readonly #options: ApprovalsOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;
  #failures = 0;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  get waitMs(): number {
    return this.#options.approvalMs;
  }

  get deliver(): ObservationRules['deliver'] {
    return this.#options.rules.deliver;
  }

  async began(payment: Payment, node: WalletNode): Promise<Payment> {
    const { feed, onDelivery } = this.#options;
    onDelivery();
    // Where the node's history cannot be written now, the next look does it.
    this.#arm(0);
    const shown = (await node.history?.putAwaiting(payment)) ?? payment;
    feed.emit(shown);
    return shown;
  }

  /** Goes on with what waited when the previous process ended. It must be called before anything of it is decided. */
  async resume(spends: readonly Spend[], node: WalletNode): Promise<void> {
    for (const { payment } of spends) await this.#show(payment, node);
    if (spends.length > 0) this.#arm(0);
  }

  async sweep(): Promise<void> {
    const { store, walletId, locks } = this.#options;
    const waiting = (await store.spends.unfinished(walletId)).filter(isWaiting);
    if (waiting.length === 0) return;
    const node = await this.#options.node();
    if (node === null) return this.#arm(LONGEST_SLEEP_MS);
    let firstMs = Number.POSITIVE_INFINITY;
    for (const spend of waiting) {
      const { payment, approveUntilMs } = spend;
      const client = await store.clients.find(spend.caller);
      const nowMs = node.clock.now();
      if (mayWait(spend, client, nowMs)) {
        await this.#show(payment, node);
        const endMs = Math.min(
          approveUntilMs ?? 0,
          client?.expiresAtMs ?? Number.POSITIVE_INFINITY,
        );
        firstMs = Math.min(firstMs, endMs - nowMs);
      } else {
        await locks.run(idOf(payment), () => this.#endWaiting(payment.index, node));
      }
    }
    this.#arm(firstMs);
  }

  async end(payment: Payment, statusMsg: string, node: WalletNode): Promise<Payment> {
    const nowMs = node.clock.now();
    const end = { status: 'failed', statusMsg, finalizedAtMs: nowMs, updatedAtMs: nowMs } as const;
    const ended: Payment = { ...payment, ...end };
    // The node first: it tells its end to the feed again where the process ends in between.
    const shown = (await node.history?.putAwaiting(ended)) ?? ended;
    return this.#options.feed.record({ payment: shown, attempt: null, ownWord: true }, node);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Shows a payment in the node's history, and takes over an end that it has only there. */
  async #show(payment: Payment, node: WalletNode): Promise<void> {
    const shown = await node.history?.putAwaiting(payment);
    // A process ended, or the store could not be written, between the end at the node and the end in the store.
    if (shown && isFinal(shown)) {
      await this.#options.feed.observe({ payment: shown, attempt: null }, node);
    }
  }

  async #endWaiting(index: PaymentIndex, node: WalletNode): Promise<void> {
    const { store, walletId } = this.#options;
    const spend = await store.spends.get(walletId, index);
    // It may have been decided while the lock was waited for.
    if (spend && isWaiting(spend)) await this.end(spend.payment, NOT_APPROVED, node);
  }

  #arm(afterMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped || afterMs === Number.POSITIVE_INFINITY) return;
    const look = async () => {
      try {
        await this.sweep();
        this.#failures = 0;
      } catch (error) {
        const { log, walletId, random } = this.#options;
        const message =
          'Payments that wait for approval could not be looked at; they are again soon.';
        log.warn(message, { walletId, error });
        this.#failures++;
        this.#arm(backoffDelayMs(this.#failures, { ...LOOK_AGAIN, random }));
      }
    };
    this.#timer = setTimeout(look, Math.min(Math.max(afterMs, 0), LONGEST_SLEEP_MS));
    this.#timer.unref();
  }
}

/** Whether a spend waits for approval. */
export function isWaiting({ state }: Pick<Spend, 'state'>): boolean {
  return state === 'awaiting';
}

/** Whether what the client has asked for may still be approved, at that time of the node. */
export function mayWait(
  { payment, approveUntilMs }: Pick<Spend, 'payment' | 'approveUntilMs'>,
  client: ClientRecord | null,
  nowMs: number,
): boolean {
  return nowMs < (approveUntilMs ?? 0) && mayPay(payment, client, nowMs);
}

/** Whether a client may pay on the rail of the payment now; null stands for one that is not there. */
export function mayPay(
  { rail }: Pick<Payment, 'rail'>,
  client: ClientRecord | null,
  nowMs: number,
): boolean {
  return client !== null && isActive(client, nowMs) && isGranted(permissionToPay(rail), client);
}
