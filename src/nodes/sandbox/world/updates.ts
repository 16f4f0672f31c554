import { updatedIndexOf } from '../../../model/payment.ts';
import type { UpdatedIndex } from '../../../model/payment-index.ts';
import type { UpdateBatch, UpdatesOptions } from '../../node.ts';
import { observed } from '../lightning/sends.ts';
import { newestUpdate, onPaymentChange, updatedAfter } from './payments.ts';
import type { World } from './world.ts';

const PAGE = 500;

/**
 * Yields the wallet's updates: everything after the cursor in pages, then the changes of each commit as soon as it is
 * durable. The listener is set before the first page is read, so that no change is missed. `check` is called before
 * each page and throws when the reader's token has ended.
 */
export async function* walletUpdates(
  world: World,
  userPk: string,
  options: UpdatesOptions & { readonly check: () => void },
): AsyncGenerator<UpdateBatch> {
  const { signal } = options;
  let cursor = options.after as UpdatedIndex | null;
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  const stop = onPaymentChange(world, userPk, wake);
  signal.addEventListener('abort', wake, { once: true });
  try {
    const target = await world.durably(() => newestUpdate(world, userPk));
    while (!signal.aborted) {
      changed = Promise.withResolvers();
      options.check();
      const payments = await world.durably(() => updatedAfter(world, userPk, cursor, PAGE));
      if (signal.aborted) return;
      const last = payments.at(-1);
      if (last) cursor = updatedIndexOf(last);
      const caughtUp = target === null || (cursor !== null && cursor >= target);
      if (last || caughtUp) {
        yield { observations: payments.map(observed), cursor: last ? cursor : null, caughtUp };
      }
      if (payments.length < PAGE && !signal.aborted) await changed.promise;
    }
  } finally {
    stop();
    signal.removeEventListener('abort', wake);
  }
}
