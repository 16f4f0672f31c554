import { useRef } from 'preact/hooks';
import type { Payment } from '../../client/index.ts';
import { useMay } from './signed-in.tsx';
import { useAsked } from './use-asked.ts';

/**
 * Returns the payments with these indexes, by index. One that is not loaded yet, or may not be seen, is missing. What
 * is completed or failed never changes again, so it is asked for once.
 */
export function usePaymentsOf(indexes: readonly string[]): ReadonlyMap<string, Payment> {
  const mayRead = useMay()('get_payment_by_id');
  const ended = useRef(new Map<string, Payment>());
  const wanted = mayRead ? [...new Set(indexes)].toSorted() : [];
  const { value } = useAsked(
    async ({ api }, signal) => {
      const found = await Promise.allSettled(
        wanted.map(async (index) => ended.current.get(index) ?? api.payment({ index }, { signal })),
      );
      const payments = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      for (const payment of payments) {
        if (payment.status !== 'pending') ended.current.set(payment.index, payment);
      }
      return new Map(payments.map((payment) => [payment.index, payment]));
    },
    [wanted.join()],
  );
  return value ?? NONE;
}

const NONE: ReadonlyMap<string, Payment> = new Map();
